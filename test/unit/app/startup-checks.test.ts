/**
 * docs/security.md: what a server does about a data directory that other users may read, and about a
 * low limit of open files.
 */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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

/** The warnings about a data directory, and its mode afterwards. */
function precautions(directory: string): { readonly warnings: string[]; readonly mode: string } {
  const warnings: string[] = [];
  const warn = (line: string) => void (line.startsWith(directory) && warnings.push(line));
  runStartupChecks({ data: directory, maxConnections: 1, workers: 1 }, quickDisk, {
    warn,
    info: () => {},
  } as unknown as Log);
  return { warnings, mode: (statSync(directory).mode & 0o777).toString(8) };
}

test('an open directory that contains only files of a store becomes private', () => {
  const names = ['catalog.json', 'lock', '.8942ec7c69fc18b5.tmp', 'lost+found'];
  assert.equal(precautions(openDirectory(...names)), { warnings: [], mode: '700' });
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
  assert.equal(precautions(directory), { warnings: [], mode: '700' });
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
