/**
 * docs/security.md: what a server does about a data directory that other users may read, and about a
 * low limit of open files.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isDataFile } from '../../../src/data-files.ts';
import { runStartupChecks } from '../../../src/app/startup-checks.ts';
import type { Log } from '../../../src/telemetry/log.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';

/** A directory of mode 755 that contains these files. */
function openDirectory(...names: readonly string[]): string {
  const directory = temporaryDirectory();
  for (const name of names) writeFileSync(join(directory, name), '');
  chmodSync(directory, 0o755);
  return directory;
}

/** Everything that the checks log. */
function logged(data: string, maxConnections: number, openFiles?: number) {
  const [warnings, infos]: [string[], string[]] = [[], []];
  const log = {
    warn: (line: string) => void warnings.push(line),
    info: (line: string) => void infos.push(line),
  } as unknown as Log;
  runStartupChecks({ data, maxConnections, workers: 1 }, quickDisk, log, openFiles);
  return { warnings, infos };
}

/** What is logged about a data directory, and its mode afterwards. */
function precautions(directory: string) {
  const about = (lines: readonly string[]) => lines.filter((line) => line.startsWith(directory));
  const { warnings, infos } = logged(directory, 1);
  const mode = (statSync(directory).mode & 0o777).toString(8);
  return { warnings: about(warnings), infos: about(infos), mode };
}

test('an open directory that contains only files of a store becomes private', () => {
  const names = ['catalog.json', 'lock', '.8942ec7c69fc18b5.tmp', 'lost+found'];
  const directory = openDirectory(...names);
  const infos = [`${directory} was open to other users; its mode is 0700 now`];
  assert.equal(precautions(directory), { warnings: [], infos, mode: '700' });
});

test('an open directory that contains another file keeps its mode, and the file is named', () => {
  const directory = openDirectory('catalog.json', 'index.html');
  const { warnings, mode } = precautions(directory);
  assert.is(mode, '755');
  assert.equal(warnings, [
    `${directory} is open to other users, and stays so because it contains "index.html"; give the server a directory of its own`,
  ]);
});

test('a private directory may contain other files', () => {
  const directory = openDirectory('index.html');
  chmodSync(directory, 0o700);
  assert.equal(precautions(directory), { warnings: [], infos: [], mode: '700' });
});

test('an open directory of another user stays so, and the warning says what that user should run', () => {
  const directory = join(openDirectory(), 'shop data');
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  const { geteuid } = process;
  process.geteuid = () => statSync(directory).uid + 1;
  try {
    const { warnings, mode } = precautions(directory);
    assert.is(mode, '755');
    assert.equal(warnings, [
      `${directory} is open to other users and belongs to another user, who should run: chmod 700 '${directory}'`,
    ]);
  } finally {
    if (geteuid !== undefined) process.geteuid = geteuid;
  }
});

test('advice on the set-up is a warning if standard error is the journal', () => {
  const data = temporaryDirectory();
  const { geteuid } = process;
  const { JOURNAL_STREAM: stream } = process.env;
  process.geteuid = () => 0;
  process.env['JOURNAL_STREAM'] = '8:12345';
  try {
    const { warnings, infos } = logged(data, 10_000, 4096);
    assert.match(warnings[0] ?? '', /^the server runs as root; /);
    assert.match(warnings[1] ?? '', /^the server takes 3584 connections at a time /);
    assert.equal(infos, []);
  } finally {
    if (geteuid !== undefined) process.geteuid = geteuid;
    if (stream === undefined) delete process.env['JOURNAL_STREAM'];
    else process.env['JOURNAL_STREAM'] = stream;
  }
});

test('fewer connections than --max-connections because of the limit of open files are reported', () => {
  const lines: string[] = [];
  const log = { warn: () => {}, info: (line: string) => void lines.push(line) } as unknown as Log;
  const check = (openFiles: number, workers = 1) => {
    const options = { data: temporaryDirectory(), maxConnections: 10_000, workers };
    runStartupChecks(options, quickDisk, log, openFiles);
    return lines.splice(0).filter((line) => line.includes('connections'));
  };
  assert.equal(check(4096), [
    'the server takes 3584 connections at a time instead of 10000, because it may have only 4096 open files; raise that limit (ulimit -Hn, or LimitNOFILE= of systemd), or lower --max-connections',
  ]);
  assert.equal(check(10_512), []);
  assert.equal(check(4096, 4), [
    'each worker takes 896 connections at a time instead of 10000, because it may have only 4096 open files; raise that limit (ulimit -Hn, or LimitNOFILE= of systemd), or lower --max-connections',
  ]);
});

test('the directory data of the source, which npm start serves, has no files of other programs', () => {
  assert.ok(readdirSync('data').includes('demo.json'));
  assert.equal(
    readdirSync('data').filter((name) => !isDataFile(name)),
    [],
  );
});

test('every name in the table of docs/storage.md belongs to a data directory', () => {
  const [, [tree = ''] = []] = readFileSync('docs/storage.md', 'utf8')
    .split('    data/\n')
    .map((part) => part.split('\n\n'));
  const names = [...tree.matchAll(/^ {6}([^ /]+)/gm)].map(([, name = '']) => name);
  assert.ok(names.includes('catalog.json') && names.includes('migrated-from-1'));
  assert.equal(
    names.filter((name) => !isDataFile(name)),
    [],
  );
});

test.run();
