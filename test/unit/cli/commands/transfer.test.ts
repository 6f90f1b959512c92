/** spec 8.13 and 8.14: `export` and `import` on the command line. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrate } from '../../../../src/cli/commands/migrate.ts';
import { importFile } from '../../../../src/cli/commands/transfer/import.ts';
import type { Disk } from '../../../../src/disk/disk.ts';
import { FileLock } from '../../../../src/disk/lock.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import { checkStore } from '../../../../src/store/check.ts';
import { readSnapshot } from '../../../../src/store/directory.ts';
import { Store } from '../../../../src/store/store.ts';
import { read } from '../../../support/catalog.ts';
import { send } from '../../../support/client.ts';
import { codeOf } from '../../../support/failure.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk, refusableDisk } from '../../../support/disk.ts';
import { COLLECTIONS } from '../../../support/imports.ts';
import { callProgram, type CallOptions } from '../../../support/program.ts';
import { closeServices, contextOf, openService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

async function demo(): Promise<string> {
  const data = temporaryDirectory();
  await migrate({ data, demo: true, dryRun: false }, contextOf());
  return data;
}

const call = (command: string, data: string, args: readonly string[], options: CallOptions = {}) =>
  callProgram([command, '--data', data, ...args], options);

function fileOf(text: string, name = 'file.csv'): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, text);
  return path;
}

const brandsIn = (data: string) => {
  const store = readSnapshot(data);
  return [...store.ids('brands')].map((id) => store.get('brands', id)?.name);
};

/** What the folder of imports contains besides states: files, requests and replies. */
const leftIn = (data: string) =>
  readdirSync(join(data, 'imports')).filter((name) => !/^\d+\.json$/.test(name));

/** The store, owned by a command. */
const ownedBy = (command: string, directory: string) =>
  Store.open({
    directory,
    command,
    create: false,
    disk: quickDisk,
    onError() {},
    onFatal() {},
  });

test.after.each(closeServices);

test('export prints the same as the API in every format, while a server is running', async () => {
  const server = await openService({ demo: true });
  for (const name of COLLECTIONS) {
    for (const format of ['csv', 'ndjson', 'json']) {
      const { text } = await send(server, 'GET', `/admin/${name}/export/?format=${format}`);
      const { status, stdout, stderr } = await call('export', server.data, [
        name,
        '--format',
        format,
      ]);
      assert.equal([status, stderr], [0, '']);
      assert.is(stdout, text, `${name} ${format}`);
    }
  }
  assert.match((await call('export', server.data, ['brands'])).stdout, /^id,name,logo,/);
});

test('export --output writes the file and prints the number of rows', async () => {
  const data = await demo();
  const path = join(temporaryDirectory(), 'brands.json');
  writeFileSync(path, 'an earlier export', { mode: 0o644 });
  const { status, stdout } = await call('export', data, ['brands', '--output', path]);
  const count = readSnapshot(data).count('brands');
  assert.equal([status, stdout], [0, `exported ${count} brands to ${path}\n`]);
  assert.is((JSON.parse(readFileSync(path, 'utf8')) as unknown[]).length, count);
  assert.is(statSync(path).mode & 0o777, 0o600, 'only its owner may read it');
});

test('a failed export leaves the existing file unchanged and no other file', async () => {
  const data = await demo();
  const path = fileOf('earlier');
  const refusal = { ...quickDisk, fdatasync: () => Promise.reject(new Error('no space left')) };
  const args = ['brands', '--output', path];
  const { status, stderr } = await call('export', data, args, { disk: refusal });
  assert.is(status, 1);
  assert.match(stderr, /^catalog-server: the export could not be written to \S+: no space left\n$/);
  assert.is(readFileSync(path, 'utf8'), 'earlier');
  assert.equal(readdirSync(join(path, '..')), ['file.csv']);
  for (const wrong of [join(data, 'x.csv'), join(data, 'no', 'x.csv'), '/dev/null']) {
    const refused = await call('export', data, ['brands', '--output', wrong]);
    assert.is(refused.status, 1, wrong);
    assert.ok(refused.stderr.includes(wrong), refused.stderr);
  }
  assert.is((await call('export', temporaryDirectory(), ['brands'])).status, 1);
});

test('export creates no directory', async () => {
  const data = await demo();
  const folder = temporaryDirectory();
  const path = join(folder, 'none', 'brands.csv');
  const { status, stdout, stderr } = await call('export', data, ['brands', '--output', path]);
  assert.equal([status, stdout], [1, '']);
  assert.match(stderr, `${path} cannot be created, because its directory cannot be used: `);
  assert.equal(readdirSync(folder), []);
});

test('an export that may not survive power loss fails, and the message does not deny the file', async () => {
  const data = await demo();
  const path = join(temporaryDirectory(), 'brands.csv');
  const disk = { ...quickDisk, fsync: () => Promise.reject(new Error('no answer')) };
  const { status, stderr } = await call('export', data, ['brands', '--output', path], { disk });
  assert.is(status, 1);
  const unknown = 'could not be synced (no answer); it is unknown whether the write is on the disk';
  assert.is(stderr, `catalog-server: ${path} or its directory ${unknown}\n`);
});

test('prices are in the currency of the last server, or in that of --currency', async () => {
  const server = await openService({ demo: true, pages: { currency: 'EUR' } });
  await server.stop();
  const headerOf = async (...args: string[]) =>
    (await call('export', server.data, ['skus', ...args])).stdout.split('\r\n')[0];
  assert.match((await headerOf()) ?? '', 'price EUR');
  assert.match((await headerOf('--currency', 'JPY')) ?? '', 'price JPY');
  const file = fileOf('id,price JPY\r\n1,700\r\n');
  const refused = await call('import', server.data, ['skus', file]);
  assert.is(refused.status, 1);
  assert.match(refused.stdout, 'is in JPY, but prices are in EUR');
  const { status } = await call('import', server.data, ['skus', file, '--currency', 'JPY']);
  assert.is(status, 0);
  assert.is(readSnapshot(server.data).get('skus', 1)?.price, 700);
});

test('import creates and changes rows with the subject cli: and the user of the operating system', async () => {
  const data = await demo();
  const file = fileOf('id,name\r\n1,Renamed\r\n,New\r\n2,\r\n'.replace('2,\r\n', ''));
  const { status, stdout, stderr } = await call('import', data, ['brands', file]);
  assert.equal([status, stderr], [0, '']);
  assert.is(stdout, `${file}: 2 rows, 1 created, 1 changed, 0 unchanged\n`);
  assert.is(brandsIn(data)[0], 'Renamed');
  assert.is(brandsIn(data).at(-1), 'New');
  const store = readSnapshot(data);
  assert.match(store.get('audits', store.lastId('audits'))?.subject ?? '', /^cli:./);
  assert.equal(checkStore(quickDisk, data).findings, []);
  assert.equal(leftIn(data), []);
});

test('the format is that of the file name or of --format, and - is standard input', async () => {
  const data = await demo();
  const row = '{"name":"New"}';
  for (const [name, text] of [
    ['a.json', `[${row}]`],
    ['a.NDJSON', row],
    ['a.jsonl', `${row}\n`],
    ['a.tsv', 'name\tlogo\nNew\t\n'],
    ['a', 'name\nNew\n'],
  ] as const) {
    const { status, stderr } = await call('import', data, ['brands', fileOf(text, name)]);
    assert.is(status, 0, `${name}: ${stderr}`);
  }
  const input = `[${row}]`;
  const streamed = await call('import', data, ['brands', '-', '--format', 'json'], { input });
  assert.equal(
    [streamed.status, streamed.stdout],
    [0, 'standard input: 1 row, 1 created, 0 changed, 0 unchanged\n'],
  );
  assert.is(brandsIn(data).filter((name) => name === 'New').length, 6);
});

test('a progress bar is shown on a terminal, and standard output is the same as without one', async () => {
  const data = await demo();
  const rows = Array.from({ length: 3000 }, (_, n) => `Brand ${n}\r\n`);
  const file = fileOf(`name\r\n${rows.join('')}`);
  for (const args of [['--dry-run'], []]) {
    const importOn = (options: CallOptions) =>
      call('import', data, ['brands', file, ...args], options);
    const plain = await importOn({});
    assert.equal([plain.status, plain.stderr], [0, '']);
    assert.match(plain.stdout, /3000 rows, 3000 [^\n]+\n$/);
    const { status, stdout, stderr } = await importOn({ terminal: true });
    assert.equal([status, stdout], [0, plain.stdout]);
    assert.match(stderr, /\d+% \d+\/\d+ KiB/);
  }
  const checking = (name: string, input = '') =>
    call('import', data, ['brands', name, '--dry-run'], { input, terminal: true });
  assert.match((await checking(file)).stderr, /100% (\d+)\/\1 KiB/, 'up to the end of the file');
  assert.is((await checking('-', 'name\r\nNew\r\n')).stderr, '', 'the size is not known');
});

test('if a row is refused, import exits 1, prints a line for each error and writes nothing', async () => {
  const data = await demo();
  const { sequence } = readSnapshot(data);
  const file = fileOf(
    'id,name,brand\r\n1,Fine,Auralune\r\n99,"two\nlines",Nobody\r\n2,,Nobody\r\n',
  );
  for (const dry of [[], ['--dry-run']]) {
    const { status, stdout, stderr } = await call('import', data, ['goods', file, ...dry]);
    assert.is(status, 1);
    assert.equal(stdout.split('\n'), [
      'row 3, id: there is no SPU 99',
      'row 4, brand: there is no brand "Nobody"',
      '',
    ]);
    assert.match(
      stderr,
      /^catalog-server: nothing was imported from [^\n]+2 errors[^\n]+row 3, id/,
    );
    assert.is(stderr.split('\n').length, 2);
  }
  assert.is(readSnapshot(data).sequence, sequence);
});

test('control characters of a cell are printed as escapes, as in an error', async () => {
  const data = await demo();
  const [escape, control] = ['\u001b[2J', '\u009b2J'];
  const name = `A${escape}B${control}`;
  const shown = 'A\\u001b[2JB\\u009b2J';
  const wrong = fileOf(`name,spu\nPhone,${name}\n`);
  const refused = await call('import', data, ['skus', wrong, '--match', 'name']);
  assert.is(refused.status, 1);
  for (const text of [refused.stdout, refused.stderr]) assert.match(text, shown);
  const { stdout } = await call('import', data, ['brands', fileOf(`name\n${name}\n`), '--dry-run']);
  assert.match(stdout, shown);
  for (const text of [refused.stdout, refused.stderr, stdout]) {
    assert.not.match(text, /(?!\n)\p{Cc}/u);
  }
});

test('--dry-run prints what would change and writes nothing', async () => {
  const data = await demo();
  const before = readdirSync(data).sort();
  const file = fileOf(`id,name\r\n1,Renamed\r\n,${'x'.repeat(100)}\r\n`);
  const { status, stdout } = await call('import', data, ['brands', file, '--dry-run']);
  const [changed, created, count] = stdout.split('\n');
  assert.is(status, 0);
  assert.is(changed, 'row 2: brand 1 would be changed: name "Auralune" -> "Renamed"');
  assert.match(created ?? '', /^row 3: brand \d+ would be created: name "x+…, logo "", first_l/);
  assert.is(count, `${file}: 2 rows, 1 would be created, 1 would be changed, 0 unchanged`);
  assert.equal(readdirSync(data).sort(), before);
  const input = 'id,name\r\n1,Auralune\r\n';
  const streamed = await call('import', data, ['brands', '-', '--dry-run'], { input });
  assert.match(
    streamed.stdout,
    'standard input: 1 row, 0 would be created, 0 would be changed, 1 unchanged',
  );
});

test('--match finds existing rows, and --create-missing creates missing brands and categories', async () => {
  const data = temporaryDirectory();
  await migrate({ data, demo: false, dryRun: false }, contextOf());
  const goods = fileOf('name,brand,category\r\nShirt,Acme,Clothes > Tops > Shirts\r\n');
  const missing = ['--create-missing', 'brands,categories'];
  assert.is((await call('import', data, ['goods', goods])).status, 1);
  const dry = await call('import', data, ['goods', goods, ...missing, '--dry-run']);
  const [brand, ...others] = dry.stdout.split('\n');
  assert.is(brand, 'row 2: missing brand "Acme" would be created');
  assert.is(others.filter((line) => line.startsWith('row 2: missing category ')).length, 3);
  const counts = ', 0 unchanged, 4 missing items would be created\n';
  assert.ok(dry.stdout.endsWith(counts), dry.stdout);
  assert.is((await call('import', data, ['goods', goods, ...missing])).status, 0);
  const again = await call('import', data, ['goods', goods, ...missing, '--match', 'name']);
  assert.match(again.stdout, '1 row, 0 created, 0 changed, 1 unchanged');
  assert.equal(brandsIn(data), ['Acme']);
});

test('if a server is running, it imports the file, and readers see the rows at once', async () => {
  const server = await openService({ demo: true });
  const file = fileOf('id,name\r\n1,Renamed\r\n,New\r\n');
  const { status, stdout, stderr } = await call('import', server.data, ['brands', file]);
  assert.equal([status, stderr], [0, '']);
  assert.is(stdout, `${file}: 2 rows, 1 created, 1 changed, 0 unchanged\n`);
  assert.is((await read(server, '/admin/brands/1/')).name, 'Renamed');
  const [entry] = await read(server, '/admin/audits/?sortby=id&order=desc&limit=1');
  assert.match(entry.subject, /^cli:./);
  assert.is((await read(server, '/admin/imports/')).length, 1);
  const input = 'id,name\r\n1,Again\r\n';
  assert.is((await call('import', server.data, ['brands', '-'], { input })).status, 0);
  assert.is((await read(server, '/admin/brands/1/')).name, 'Again');
  const refused = await call('import', server.data, ['brands', fileOf('id,name\r\n99,X\r\n')]);
  assert.equal([refused.status, refused.stdout], [1, 'row 2, id: there is no brand 99\n']);
  const goods = fileOf(
    'name,brand,category,desc_detail\r\nLamp,Nimbus Light,Electronics > Phones > Lamps,\r\n',
  );
  const flags = ['--match', 'name', '--create-missing', 'brands,categories'];
  const creating = await call('import', server.data, ['goods', goods, ...flags]);
  assert.equal([creating.status, creating.stderr], [0, '']);
  assert.match(creating.stdout, '1 created, 0 changed, 0 unchanged, 2 missing items created\n');
  assert.equal(leftIn(server.data), []);
  assert.equal(server.log, []);
});

test('the reason why a server refuses a file is printed by the command', async () => {
  const server = await openService({ demo: true, maxImport: 100 });
  const long = fileOf(`name\r\n${'x'.repeat(100)}\r\n`);
  const large = await call('import', server.data, ['brands', long]);
  assert.is(large.status, 1);
  assert.match(large.stderr, 'larger than 100 bytes (--max-import of the server)');
  const file = fileOf('name\r\nNew\r\n');
  const other = await call('import', server.data, ['brands', file, '--currency', 'EUR']);
  assert.match(other.stderr, "the server's prices are in USD, not in EUR");
  assert.equal(leftIn(server.data), []);
});

test('the command applies its own --max-import before a server gets the file', async () => {
  const server = await openService({ demo: true });
  const long = `name\r\n${'x'.repeat(100)}\r\n`;
  for (const [file, input] of [
    [fileOf(long), ''],
    ['-', long],
  ] as const) {
    const args = ['brands', file, '--max-import', '100'];
    const large = await call('import', server.data, args, { input });
    assert.is(large.status, 1, large.stdout);
    assert.match(large.stderr, 'the file is larger than 100 bytes (--max-import)\n');
  }
  assert.equal(leftIn(server.data), []);
  assert.equal(await read(server, '/admin/imports/'), []);
});

test('without a server and in a dry run the command applies --max-import itself', async () => {
  const data = await demo();
  const long = fileOf(`name\r\n${'x'.repeat(100)}\r\n`);
  const flags = ['brands', long, '--max-import', '100'];
  const large = await call('import', data, flags);
  assert.is(large.status, 1);
  assert.match(large.stderr, 'the file is larger than 100 bytes (--max-import)');
  const dry = await call('import', data, [...flags, '--dry-run']);
  assert.is(dry.status, 1);
  assert.match(`${dry.stdout}${dry.stderr}`, 'the file is larger than 100 bytes');
  assert.equal(leftIn(data), []);
  assert.is((await call('import', data, ['brands', long])).status, 0);
});

test('a file that the server has not taken is imported by the command once the server has ended', async () => {
  const data = await demo();
  const server = await openService({ data });
  await server.stop();
  // A server that owns the directory but does not look for requests.
  const busy = await ownedBy('serve', data);
  const input = 'name\r\nNew\r\n';
  const importing = call('import', data, ['brands', '-'], { input });
  await until('the file is handed over', () =>
    Promise.resolve(leftIn(data).some((name) => name.endsWith('.request'))),
  );
  await busy.close();
  const { status, stderr } = await importing;
  assert.equal([status, stderr], [0, '']);
  assert.is(brandsIn(data).at(-1), 'New');
  assert.equal(leftIn(data), []);
});

test('a file that was withdrawn from a server that has ended is handed over to the next one', async () => {
  const data = await demo();
  let owner = await ownedBy('serve', data);
  let handedOver = 0;
  const disk: Disk = {
    ...quickDisk,
    async rename(from, to) {
      await quickDisk.rename(from, to);
      if (to.endsWith('.request')) handedOver += 1;
      // The next server has started when the command looks who owns the directory.
      else if (handedOver === 1) owner = await ownedBy('serve', data);
    },
  };
  const input = 'name\r\nNew\r\n';
  let isOver = false;
  const importing = call('import', data, ['brands', '-'], { input, disk }).finally(() => {
    isOver = true;
  });
  for (const times of [1, 2]) {
    await until(`it is handed over ${times} times`, () => isOver || handedOver === times);
    await owner.close();
  }
  const { status, stderr } = await importing;
  assert.equal([status, stderr], [0, '']);
  assert.is(brandsIn(data).at(-1), 'New');
  assert.equal(leftIn(data), []);
});

test('an import fails if a server took the file and ended, and the next one runs already', async () => {
  const data = await demo();
  const folder = join(data, 'imports');
  mkdirSync(folder);
  const owner = await ownedBy('serve', data);
  const { now } = performance;
  // The command looks at the clock to decide how often it checks whether the server runs.
  performance.now = () => 20 * now.call(performance);
  try {
    let looks = 0;
    const disk: Disk = {
      ...quickDisk,
      read(path) {
        if (path.endsWith('.reply')) looks += 1;
        return quickDisk.read(path);
      },
    };
    const importing = call('import', data, ['brands', '-'], { input: 'name\r\nNew\r\n', disk });
    const requestIn = () => leftIn(data).find((name) => name.endsWith('.request'));
    await until('the file is handed over', () => requestIn() !== undefined);
    const request = join(folder, requestIn() ?? '');
    const taken = request.replace('.request', '.taken');
    renameSync(request, taken);
    const before = looks;
    await until('it waits while the server takes the file', () => looks > before + 10);
    // As the next server does when it starts.
    rmSync(taken);
    const { status, stderr } = await importing;
    assert.is(status, 1);
    assert.match(stderr, /the server stopped when it had taken the file; start it, and look/);
    assert.equal(leftIn(data), []);
  } finally {
    performance.now = now;
  }
  await owner.close();
});

test('a starting server imports requests that were not taken, and not those that were', async () => {
  const data = await demo();
  const folder = join(data, 'imports');
  mkdirSync(folder);
  const [taken, asked] = [1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
  const order = {
    format: 'csv',
    match: 'id',
    createMissing: [],
    subject: 'cli:ann',
    currency: null,
  };
  const request = (name: string) =>
    `${JSON.stringify({ collection: 'brands', ...order })}\nname\r\n${name}\r\n`;
  writeFileSync(join(folder, `${taken}.taken`), request('Taken'));
  writeFileSync(join(folder, `${taken}.reply`), '{}');
  writeFileSync(join(folder, `${asked}.request`), request('Asked'));
  writeFileSync(join(folder, `${asked}.part`), 'of a command that runs');
  const server = await openService({ data });
  assert.not.ok(existsSync(join(folder, `${taken}.taken`)));
  await until('the request is imported', async () => {
    const [last] = await read(server, '/admin/imports/');
    return last?.state === 'done';
  });
  const names = (await read(server, '/admin/brands/')).map(({ name }: { name: string }) => name);
  assert.is(names.at(-1), 'Asked');
  assert.not.ok(names.includes('Taken'));
});

test('a malformed request gets an error as its reply and is logged, and nothing is imported', async () => {
  const server = await openService({ demo: true });
  const token = '00000000-0000-4000-8000-000000000003';
  const reply = join(server.data, 'imports', `${token}.reply`);
  for (const text of ['', 'nonsense', '{"collection":"books"}\n']) {
    writeFileSync(join(server.data, 'imports', `${token}.request`), text);
    await until('there is a reply', () => Promise.resolve(existsSync(reply)));
    assert.match(readFileSync(reply, 'utf8'), /"error":/, text);
    rmSync(reply);
  }
  assert.is(server.log.length, 3);
  assert.is((await read(server, '/admin/imports/')).length, 0);
});

test('concurrent imports all succeed', async () => {
  const data = await demo();
  const files = [1, 2, 3].map((n) => fileOf(`name\r\nBrand ${n}\r\n`));
  const all = await Promise.all(files.map((file) => call('import', data, ['brands', file])));
  assert.equal(
    all.map(({ status }) => status),
    [0, 0, 0],
  );
  assert.equal(
    brandsIn(data)
      .slice(-3)
      .toSorted((a = '', b = '') => a.localeCompare(b)),
    ['Brand 1', 'Brand 2', 'Brand 3'],
  );
});

/** Imports a brand. @param warnings takes the lines on standard error before the error. */
function importBrand(data: string, warnings: string[]): Promise<void> {
  const options = {
    data,
    file: fileOf('name\r\nNew\r\n'),
    kind: KINDS.brands,
    format: 'csv',
    match: 'id',
    createMissing: new Set<string>(),
    currency: null,
    dryRun: false,
    maxImport: 1000,
  } as const;
  const warn = (line: string) => void warnings.push(line);
  return importFile(options, { ...contextOf(), warn });
}

test('an import waits while another import is using the store, and says so once', async () => {
  const data = await demo();
  const other = await ownedBy('import', data);
  const warnings: string[] = [];
  const importing = importBrand(data, warnings);
  await until('it says so', () => warnings.length > 0);
  await other.close();
  await importing;
  assert.equal(warnings, [`waiting for another import into ${data}`]);
  assert.is(brandsIn(data).at(-1), 'New');
});

test('import waits while it is not known who uses the store, because that is changing', async () => {
  const data = await demo();
  const lock = new FileLock(join(data, 'lock'));
  assert.ok(lock.tryLock());
  lock.note('');
  let isOver = false;
  const importing = call('import', data, ['brands', fileOf('name\r\nNew\r\n')]).finally(() => {
    isOver = true;
  });
  // Any other work, during which the import finds the store in use.
  assert.is((await call('export', data, ['brands'])).status, 0);
  assert.not.ok(isOver);
  lock.close();
  const { status, stderr } = await importing;
  assert.equal([status, stderr], [0, '']);
  assert.is(brandsIn(data).at(-1), 'New');
});

test('import fails if it stays unknown who uses the store, and does not say that it is an import', async () => {
  const data = await demo();
  const lock = new FileLock(join(data, 'lock'));
  assert.ok(lock.tryLock());
  lock.note('');
  const warnings: string[] = [];
  assert.is(await codeOf(importBrand(data, warnings)), 'store_locked');
  assert.equal(warnings, []);
  lock.close();
});

test('import fails at once if another command than serve or import is using the store', async () => {
  const data = await demo();
  const store = await ownedBy('undo', data);
  const { status, stderr } = await call('import', data, ['brands', fileOf('name\r\nNew\r\n')]);
  assert.is(status, 1);
  assert.match(stderr, 'in use by catalog-server undo');
  await store.close();
});

test('an import fails if the disk refuses a commit, and prints which rows are written', async () => {
  const data = await demo();
  const before = brandsIn(data);
  const refusal = { active: false };
  const disk = { ...refusableDisk(refusal) };
  const { publish } = disk;
  let commits = 0;
  disk.publish = (job) => {
    const isCommit = job.record !== undefined;
    if (isCommit) commits += 1;
    refusal.active = isCommit && commits === 2;
    return publish(job);
  };
  const rows = Array.from({ length: 1500 }, (_, n) => `Brand ${n}\r\n`);
  const file = fileOf(`name\r\n${rows.join('')}`);
  const { status, stdout, stderr } = await call('import', data, ['brands', file], { disk });
  assert.is(status, 1);
  assert.match(
    stdout,
    /^the rows before row 252 are written, the others are not: [^\n]*no space left[^\n]*\n$/,
  );
  assert.is(stderr, `catalog-server: the import of ${file} failed: ${stdout}`);
  const written = Array.from({ length: 250 }, (_, n) => `Brand ${n}`);
  assert.equal(brandsIn(data), [...before, ...written]);
});

test('a signal ends an import before its next commit, and a line says which rows are written', async () => {
  const data = await demo();
  const before = brandsIn(data);
  let commits = 0;
  const disk: Disk = {
    ...quickDisk,
    publish(job) {
      const isCommit = job.record !== undefined;
      if (isCommit) commits += 1;
      // As if the system had sent it: the command listens.
      if (isCommit && commits === 1) process.emit('SIGTERM');
      return quickDisk.publish(job);
    },
  };
  const rows = Array.from({ length: 300 }, (_, n) => `Brand ${n}\r\n`);
  const file = fileOf(`name\r\n${rows.join('')}`);
  const listening = process.listenerCount('SIGINT');
  const { status, stdout, stderr } = await call('import', data, ['brands', file], { disk });
  assert.is(process.listenerCount('SIGINT'), listening, 'a signal ends the process again');
  assert.is(status, 1);
  assert.match(stdout, /^the rows before row 252 are written, the others are not: [^\n]+\n$/);
  assert.is(stderr, `catalog-server: the import of ${file} failed: ${stdout}`);
  assert.is(brandsIn(data).length, before.length + 250);
  assert.equal(leftIn(data), []);
});

test('an import says that the disk has refused its report, and not only why', async () => {
  const data = await demo();
  const refusal = { active: false };
  const disk = { ...refusableDisk(refusal) };
  const { publish } = disk;
  let commits = 0;
  disk.publish = (job) => {
    if (job.record !== undefined) commits += 1;
    refusal.active = commits > 0 && job.record === undefined;
    return publish(job);
  };
  const file = fileOf('name\r\nNew\r\n');
  const { status, stderr } = await call('import', data, ['brands', file], { disk });
  assert.is(status, 0);
  const failure = 'the files of an import could not be read or saved: no space left on device';
  assert.is(stderr, `catalog-server: ${failure}\n`);
});

test('missing or invalid arguments are wrong usage, and a missing file or store is a failure', async () => {
  const data = await demo();
  const file = fileOf('name\r\nNew\r\n');
  for (const args of [
    ['export'],
    ['export', 'books'],
    ['export', 'brands', '--format', 'xml'],
    ['export', 'brands', '--output', ''],
    ['import', 'brands'],
    ['import', 'books', file],
    ['import', 'brands', file, '--match', 'code'],
    ['import', 'skus', file, '--match', 'price'],
    ['import', 'skus', file, '--create-missing', 'skus'],
    ['import', 'skus', file, '--currency', 'euro'],
  ]) {
    const [command = '', ...rest] = args;
    const { status, stderr } = await call(command, data, rest);
    assert.is(status, 2, `${args.join(' ')}: ${stderr}`);
  }
  const unknown = await call('import', data, ['brands', join(data, 'no.csv')]);
  assert.equal(
    [unknown.status, /there is no file .*; name a file, or "-"/.test(unknown.stderr)],
    [1, true],
  );
  const device = await call('import', data, ['brands', '/dev/null']);
  assert.is(device.status, 1);
  assert.match(
    device.stderr,
    /a pipe or a device[^\n]*; name a file, or "-" for standard input\n$/,
  );
  assert.is((await call('import', data, ['brands', data])).status, 1);
  assert.is((await call('import', temporaryDirectory(), ['brands', file])).status, 1);
});

test.run();
