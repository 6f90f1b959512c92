/** A catalog that cannot be opened: what was opened by then is closed (src/app/catalog.ts). */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../../src/app/catalog.ts';
import { ALONE } from '../../../src/app/hosts/membership.ts';
import { DATA_FILES } from '../../../src/data-files.ts';
import { messageOf } from '../../../src/errors.ts';
import { sent } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickDisk } from '../../support/disk.ts';
import { codeOf } from '../../support/failure.ts';
import { MemoryObjects } from '../../support/object-store.ts';
import { SECRET } from '../../support/secret.ts';
import {
  closeServices,
  contextOf,
  monitor,
  openService,
  optionsOf,
} from '../../support/service.ts';
import { until } from '../../support/until.ts';

test.after.each(closeServices);

/** Longer than the time between two looks for imports of commands. */
const SOME_LOOKS_MS = 500;

/** A disk that cannot list the files of webhooks. */
const withoutWebhooks = {
  ...quickDisk,
  list(path: string) {
    if (basename(path) === DATA_FILES.webhooks) throw new Error('no webhooks');
    return quickDisk.list(path);
  },
};

test('a catalog whose webhooks cannot be read takes no imports of commands', async () => {
  const data = temporaryDirectory();
  let looks = 0;
  const disk = {
    ...quickDisk,
    list(path: string) {
      if (basename(path) === DATA_FILES.imports) looks += 1;
      return withoutWebhooks.list(path);
    },
  };
  assert.is(await openService({ data, disk }).then(String, messageOf), 'no webhooks');
  const before = looks;
  await pause(SOME_LOOKS_MS);
  assert.is(looks, before);
});

test('a catalog that was closed takes no imports of commands', async () => {
  let looks = 0;
  const disk = {
    ...quickDisk,
    list(path: string) {
      if (basename(path) === DATA_FILES.imports) looks += 1;
      return quickDisk.list(path);
    },
  };
  const service = await openService({ disk });
  await service.stop();
  const before = looks;
  await pause(SOME_LOOKS_MS);
  assert.is(looks, before);
});

test('a mistake in the settings is reported before there is a store', async () => {
  const data = temporaryDirectory();
  const archive = { kind: 'directory', path: join(data, DATA_FILES.changes) } as const;
  for (const [code, options, secret] of [
    ['usage', { archive }, SECRET],
    ['key_file', {}, 'short'],
  ] as const) {
    const context = contextOf(quickDisk, { CATALOG_JWT_SECRET: secret });
    const opening = openCatalog(optionsOf(options, data), context, monitor([]));
    assert.is(await codeOf(opening), code);
    assert.equal(readdirSync(data), [], code);
  }
});

test('a catalog that is closed sends its last change sets to the archive (spec 8.9)', async () => {
  const archiveStore = new MemoryObjects();
  const archive = { kind: 'directory', path: temporaryDirectory() } as const;
  const service = await openService({ archive, archiveStore });
  await until('its base is archived', () => archiveStore.in('bases').length > 0);
  const before = archiveStore.in('changes').length;
  await sent(service, 201, 'POST', '/admin/brands/', { body: { name: 'New' } });
  await service.stop();
  assert.is(archiveStore.in('changes').length, before + 1);
});

test('a start that fails logs nothing of what it could not write', async () => {
  const data = temporaryDirectory();
  const disk = {
    ...withoutWebhooks,
    read(path: string) {
      if (basename(path) === DATA_FILES.pageSettings) throw new Error('no settings');
      return quickDisk.read(path);
    },
  };
  const log: string[] = [];
  const context = contextOf(disk, { CATALOG_JWT_SECRET: SECRET });
  const opening = openCatalog(optionsOf({}, data), context, monitor(log));
  assert.is(await opening.then(String, messageOf), 'no webhooks');
  assert.equal(log, []);
});

test('a catalog that cannot be opened, nor closed again, says both', async () => {
  const close = () => Promise.reject(new Error('no farewell'));
  const error = await openService({ disk: withoutWebhooks, membership: { ...ALONE, close } }).catch(
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof SuppressedError);
  assert.is(messageOf(error.suppressed), 'no webhooks');
  assert.is(messageOf(error.error), 'no farewell');
});

test('a host that could not join the others leaves them, and frees its directory', async () => {
  const data = temporaryDirectory();
  let isLeft = false;
  const membership = {
    ...ALONE,
    join: () => Promise.reject(new Error('they differ')),
    close: async () => {
      isLeft = true;
    },
  };
  assert.is(await openService({ data, membership }).then(String, messageOf), 'they differ');
  assert.ok(isLeft);
  await openService({ data });
});

test('a catalog whose imports cannot be read ends its deliveries, and frees its directory', async () => {
  const data = temporaryDirectory();
  const first = await openService({ data, send: () => Promise.resolve(503) });
  await sent(first, 201, 'POST', '/admin/webhooks/', {
    body: { url: 'https://receiver.example/' },
  });
  await sent(first, 201, 'POST', '/admin/brands/', { body: { name: 'New' } });
  await first.stop();
  const folder = join(data, DATA_FILES.imports);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `.${'0'.repeat(16)}.tmp`), '');

  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<number>();
  const steps: string[] = [];
  const disk = {
    ...quickDisk,
    async unlink(path: string) {
      if (!path.startsWith(folder)) return quickDisk.unlink(path);
      await begun.promise;
      throw new Error('no imports');
    },
  };
  const send = () => {
    begun.resolve();
    return answer.promise;
  };
  const failed = openService({ data, disk, send, retryDelay: () => 0 }).catch((error: unknown) => {
    steps.push(messageOf(error));
  });
  await Promise.race([failed, pause(SOME_LOOKS_MS)]);
  steps.push('the delivery ends');
  answer.resolve(204);
  await failed;
  assert.equal(steps, ['the delivery ends', 'no imports']);
  await openService({ data });
});

test.run();
