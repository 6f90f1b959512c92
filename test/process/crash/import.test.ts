/**
 * An import killed by SIGKILL (spec 12.10) is `failed` unless all rows were written, and the file can
 * be imported again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog, read } from '../../support/catalog.ts';
import type { Reachable } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { COLLECTIONS, exportOf, importInto, postImport } from '../../support/imports.ts';
import { PROGRAM } from '../../support/paths.ts';
import { killServers, startServer } from '../../support/server.ts';
import { closeServices, openService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

test.after.each(closeServices);
test.after(killServers);

const QUERY = 'match=code&create_missing=specs,options';

/** Rows for at least four commits; the first rows create options. */
const ROWS = 1000;

function file(): string {
  const lines = [
    'code,name,spu,caption,category,price USD,cost_price USD,market_price USD,stock,is_launched,specs',
  ];
  for (let n = 1; n <= ROWS; n += 1) {
    lines.push(
      `C-${n},SKU ${n},Phone,,Phone 1 > Phone 2 > Phone 3,${n}.00,1,2,${n % 7},true,Colour=Tone ${n % 50}`,
    );
  }
  return `${lines.join('\r\n')}\r\n`;
}

const everything = async (server: Reachable) => {
  const files: Record<string, string> = {};
  for (const name of COLLECTIONS) files[name] = await exportOf(server, name);
  return files;
};

const prepared = async () => {
  const service = await openService();
  await createCatalog(service);
  return service;
};

/** Milliseconds to wait for pages, which do not matter here and take most of the time. */
const NO_PAGES = 0;

/** The catalog after an import that was not interrupted. */
async function undisturbed(): Promise<Record<string, string>> {
  const service = await prepared();
  const { state } = await importInto(service, 'skus', file(), { query: QUERY });
  assert.is(state, 'done');
  const files = await everything(service);
  await service.stop(NO_PAGES);
  return files;
}

const expected = undisturbed();

/** Checks that the rows that are written are the first ones of the file. @returns their number. */
async function rowsWritten(service: Reachable): Promise<number> {
  const codes = [...(await exportOf(service, 'skus')).matchAll(/\bC-\d+\b/g)].map(([code]) => code);
  const first = Array.from({ length: codes.length }, (_, index) => `C-${index + 1}`);
  assert.equal(codes, first);
  return codes.length;
}

/** Checks what a killed import says about its rows, and imports the same file again. */
async function assertRepeatable(data: string, what: string): Promise<void> {
  const service = await openService({ data });
  const [first] = await read(service, '/admin/imports/');
  const written = await rowsWritten(service);
  // On a busy machine the signal may arrive after the end of the import.
  if (first.state === 'done') assert.is(written, ROWS, what);
  else {
    assert.is(first.state, 'failed', what);
    const { errors } = await read(service, `/admin/imports/${first.id}/`);
    const { message } = errors.at(-1);
    assert.match(
      message,
      /^the import was interrupted(?:; no row was written$| while it wrote rows; )/,
    );
    if (message.endsWith('no row was written')) assert.is(written, 0, what);
  }
  const again = await importInto(service, 'skus', file(), { query: QUERY });
  assert.is(again.state, 'done', JSON.stringify(again.errors));
  assert.equal(await everything(service), await expected, what);
  const left = () => readdirSync(join(data, 'imports')).filter((name) => !/^\d+\.json$/.test(name));
  // The file of an import is removed after its end is reported.
  await until('nothing but states is left', () => left().length === 0);
  await service.stop(NO_PAGES);
}

interface Moment {
  readonly when: string;
  readonly is: (found: { readonly state: string; readonly rows: number }) => boolean;
}

const MOMENTS: readonly Moment[] = [
  { when: 'soon after its start', is: () => true },
  { when: 'while rows are checked', is: ({ rows }) => rows > 100 },
  { when: 'between commits', is: ({ state, rows }) => state === 'writing' && rows > 0 },
  { when: 'before the last commit', is: ({ state, rows }) => state === 'writing' && rows > 600 },
];

for (const { when, is } of MOMENTS) {
  test(`an import whose server is killed ${when} is failed, or done with all rows, and can be repeated`, async () => {
    const { data, stop } = await prepared();
    await stop(NO_PAGES);
    const server = await startServer({ data });
    const location = (await postImport(server, 'skus', file(), { query: QUERY })).headers.get(
      'location',
    );
    await until('the moment has come, or the import is over', async () => {
      const found = await read(server, location ?? '');
      return is(found) || found.state === 'done';
    });
    await server.kill();
    await assertRepeatable(data, when);
  });
}

/** Waits until a process has ended. */
const ended = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    child.on('close', () => resolve());
  });

test('an import whose command is killed while it writes is failed, or done with all rows, and can be repeated', async () => {
  const { data, stop } = await prepared();
  await stop(NO_PAGES);
  const path = join(temporaryDirectory(), 'skus.csv');
  writeFileSync(path, file());
  const words = ['import', 'skus', path, '--match', 'code', '--create-missing', 'specs,options'];
  const child = spawn(PROGRAM, [...words, '--data', data], { stdio: 'ignore' });
  const end = ended(child);
  await until('it writes', () => {
    const name = readdirSync(join(data, 'imports')).find((each) => each.endsWith('.json'));
    if (name === undefined) return false;
    const text = readFileSync(join(data, 'imports', name), 'utf8');
    return /"state":"(?:writing|done)"/.test(text);
  });
  child.kill('SIGKILL');
  await end;
  await assertRepeatable(data, 'command');
});

test.run();
