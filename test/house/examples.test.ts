/** The examples of the documents, run in order as a reader would paste them. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../support/directory.ts';
import { PROGRAM, ROOT } from '../support/paths.ts';
import { killServers, startServer } from '../support/server.ts';
import { openShell, type Shell } from '../support/shell.ts';
import { until } from '../support/until.ts';

/** Commands, and the output of the last one; null if the document does not show it. */
interface Example {
  readonly commands: readonly string[];
  readonly output: string | null;
}

/** Indented blocks are commands, and a fenced block after one is its output. */
function examplesOf(markdown: string): Example[] {
  const blocks = markdown.matchAll(/((?:^ {4}\S.*\n)+)\n?(?:```\n([\s\S]*?)\n```)?/gm);
  return [...blocks].map(([, commands = '', output]) => ({
    commands: commands.trim().split(/\n\s*/),
    output: output ?? null,
  }));
}

/** Replaces text that differs in each run: ids, times, entity tags. */
function withoutRandom(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, '<uuid>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replace(/^ETag: ".*"$/gm, 'ETag: <tag>')
    .replace(/\b\d{13}\b/g, '<milliseconds>');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * `…` stands for any text in a line, or for any lines if it is alone on a line. Documents show only
 * the headers that matter.
 */
function patternOf(output: string): RegExp {
  const lines = withoutRandom(output).split('\n');
  const hasHeaders = output.startsWith('HTTP/1.1 ');
  const blank = lines.indexOf('');
  const isHeader = (index: number) => hasHeaders && index > 0 && (blank < 0 || index <= blank);
  const patterns = lines.map((line, index) => {
    if (line === '…') return '(?:.*\\n)*?';
    const text = `${line.split('…').map(escaped).join('.*')}\\n`;
    return isHeader(index) ? `(?:.+\\n)*?${text}` : text;
  });
  return new RegExp(`^${patterns.join('')}${hasHeaders && blank < 0 ? '[^]*' : ''}$`);
}

/** Pages and page builds are made in the background, so reading them may be repeated. */
const MAY_WAIT = /^curl (?:-s )?\$API\/(?:pages|admin\/page-builds)\//;

const shells: Shell[] = [];

/** Commands that prompt for a password. */
const ASKS = /^catalog-server users add\b/;

/** Runs every example of a document against a server with the demo catalog. */
async function assertTrue(document: string): Promise<void> {
  const examples = examplesOf(readFileSync(join(ROOT, document), 'utf8'));
  assert.ok(examples.filter(({ output }) => output !== null).length >= 6, 'examples are seen');
  const directory = temporaryDirectory();
  const data = join(directory, 'data');
  const server = await startServer({ data, demo: true, ownKeys: true });
  mkdirSync(join(directory, 'dist'));
  const program = join(directory, 'dist', 'catalog-server');
  symlinkSync(PROGRAM, program);
  const path = `${join(directory, 'dist')}:${process.env['PATH'] ?? ''}`;
  const shell = openShell(directory, { CATALOG_DATA: data, PATH: path });
  shells.push(shell);

  for (const { commands, output } of examples) {
    if (!/^(?:curl|API|AUTH|TOKEN|JSON|ETAG|echo|export|catalog-server)\b/.test(commands[0] ?? ''))
      continue;
    if (commands.some((command) => ASKS.test(command))) continue;
    for (const command of commands.slice(0, -1)) {
      await shell.run(command.replace('http://127.0.0.1:8000', server.url));
    }
    const last = commands.at(-1) ?? '';
    let printed = await shell.run(last);
    if (output === null) continue;
    const pattern = patternOf(output);
    const isAsShown = () => pattern.test(`${withoutRandom(printed).trimEnd()}\n`);
    if (!isAsShown() && MAY_WAIT.test(last)) {
      await until(`${last} prints what is shown`, async () => {
        printed = await shell.run(last);
        return isAsShown();
      });
    }
    assert.ok(isAsShown(), `${document}: ${last}\nshown:\n${output}\nprinted:\n${printed}`);
  }
  await server.stop();
}

test.after(async () => {
  for (const shell of shells) shell.close();
  await killServers();
});

for (const document of ['README.md', 'docs/api.md']) {
  test(`the examples of ${document} print the output that it shows`, () => assertTrue(document));
}

test('an output with … matches any text in its place, and headers that are not shown', () => {
  assert.match('{"id":1,"name":"A"}\n', patternOf('{"id":1,…}'));
  assert.not.match('{"id":2,"name":"A"}\n', patternOf('{"id":1,…}'));
  const shown = 'HTTP/1.1 200 OK\nAllow: GET\n\n{}';
  assert.match('HTTP/1.1 200 OK\nDate: now\nAllow: GET\nVary: Accept\n\n{}\n', patternOf(shown));
  assert.not.match('HTTP/1.1 200 OK\nVary: Accept\n\n{}\n', patternOf(shown));
  assert.not.match('HTTP/1.1 404 Not Found\nAllow: GET\n\n{}\n', patternOf(shown));
});

test.run();
