/** spec 8.14: `import` while another process owns the directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrate } from '../../../src/cli/commands/migrate.ts';
import { ImportState } from '../../../src/resources/transfer/import-state.ts';
import { parseKept } from '../../../src/resources/transfer/kept-report.ts';
import { Store } from '../../../src/store/store.ts';
import { read } from '../../support/catalog.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { PROGRAM } from '../../support/paths.ts';
import {
  collect,
  type Finished,
  killServers,
  runCommand,
  startServer,
} from '../../support/server.ts';
import { contextOf } from '../../support/service.ts';
import { until } from '../../support/until.ts';

test.after(killServers);

function fileOf(text: string): string {
  const path = join(temporaryDirectory(), 'file.csv');
  writeFileSync(path, text);
  return path;
}

test('import on the directory of a running server lets the server import, and waits for the result', async () => {
  const server = await startServer({ demo: true });
  const words = ['import', 'brands', fileOf('name\r\nNew\r\n'), '--data', server.data];
  const { status, stdout, stderr } = await runCommand(words);
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, /: 1 row, 1 created, 0 changed, 0 unchanged\n$/);
  const brands = await read(server, '/admin/brands/');
  assert.is(brands.at(-1).name, 'New');
  await server.stop();
});

/** A directory whose owner, this process, does not look for import requests. */
async function owned() {
  const data = temporaryDirectory();
  await migrate({ data, demo: true, dryRun: false }, contextOf());
  const busy = await Store.open({
    directory: data,
    command: 'serve',
    create: false,
    disk: quickDisk,
    onError() {},
    onFatal() {},
  });
  return { data, busy };
}

/**
 * Imports a file that the owner takes.
 *
 * @param report of the import that the owner saves and names in its reply; null for no reply.
 * @param after is called then.
 * @param ended whether the reply says that the import has ended.
 */
async function importTaken(
  data: string,
  report: string | null,
  after: () => Promise<void> = () => Promise.resolve(),
  ended = false,
): Promise<Finished> {
  const finished = runCommand(['import', 'brands', fileOf('name\r\nNew\r\n'), '--data', data]);
  const folder = join(data, 'imports');
  let request: string | undefined;
  await until('the file is handed over', () => {
    request = quickDisk.list(folder).find(isRequest);
    return request !== undefined;
  });
  const path = (name: string) => join(folder, request?.replace('request', name) ?? '');
  renameSync(path('request'), path('taken'));
  if (report !== null) {
    writeFileSync(join(folder, '1.json'), report);
    writeFileSync(path('reply'), JSON.stringify({ id: 1, done: 1, total: 2, ended }));
  }
  await after();
  return finished;
}

/** The report of an import in a state that has not ended. */
const reportIn = (state: string) =>
  new ImportState(1, 'brands', false).text.replace('checking', state);

test('if the server ends during an import, the command says whether rows may be written', async () => {
  for (const [state, expected] of [
    ['checking', /the import was interrupted; no row was written$/],
    ['writing', /the import was interrupted while it wrote rows; .*; import the others again$/],
    [null, /; start it, and look whether \/admin\/imports\/ lists the import before you import/],
  ] as const) {
    const { data, busy } = await owned();
    const report = state === null ? null : reportIn(state);
    const { status, stderr } = await importTaken(data, report, () => busy.close());
    assert.is(status, 1);
    assert.match(stderr.trim(), expected);
  }
});

test('if another server was started during an import, the command prints what it reports', async () => {
  const { data, busy } = await owned();
  // A server that starts saves the report of an import that was interrupted, and does not reply.
  const { status, stderr } = await importTaken(data, parseKept(reportIn('writing')).interrupted);
  assert.is(status, 1);
  assert.match(stderr, /the import was interrupted while it wrote rows; /);
  await busy.close();
});

test('if the disk of the server has refused the report of an import, the command does not say that the rows are written', async () => {
  const { data, busy } = await owned();
  const { status, stdout, stderr } = await importTaken(data, reportIn('writing'), undefined, true);
  assert.equal([status, stdout], [1, '']);
  assert.match(
    stderr,
    /: the import has ended, but the server could not save its report; see \/admin\/imports\/1\/ for the rows that are written, and the log of the server\n$/,
  );
  await busy.close();
});

test('SIGINT withdraws a file that the server has not yet accepted', async () => {
  const { data, busy } = await owned();
  const words = ['import', 'brands', fileOf('name\r\nNew\r\n'), '--data', data];
  const child: ChildProcess = spawn(PROGRAM, words);
  const finished = collect(child);
  const folder = join(data, 'imports');
  await until('the file is handed over', () => quickDisk.list(folder).some(isRequest));
  child.kill('SIGINT');
  const { status, stderr } = await finished;
  assert.equal([status, stderr], [1, 'catalog-server: stopped; nothing was imported\n']);
  assert.equal(readdirSync(folder), []);
  await busy.close();
});

const isRequest = (name: string) => name.endsWith('.request');

test.run();
