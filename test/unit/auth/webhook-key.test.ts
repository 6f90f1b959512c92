import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebhookKey, webhookKeyPath } from '../../../src/auth/webhook-key.ts';
import { CatalogError } from '../../../src/errors.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const CREATED = '2026-11-21T08:00:00.000Z';

test('spec 14.5: the secret of a webhook is derived from the key with which it was created', async () => {
  const directory = temporaryDirectory();
  const key = await new WebhookKey(directory).id();
  const later = new WebhookKey(directory);
  const secret = later.secretOf({ id: 1, created: CREATED, key });
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.is(await later.id(), key);
  assert.is(new WebhookKey(directory).secretOf({ id: 1, created: CREATED, key }), secret);
  assert.is.not(later.secretOf({ id: 2, created: CREATED, key }), secret);
  assert.is.not(later.secretOf({ id: 1, created: '2026-11-21T08:00:00.001Z', key }), secret);
});

test('a webhook that an earlier version created keeps its secret', () => {
  const directory = temporaryDirectory();
  const file = JSON.stringify({ key: 'k'.repeat(43) });
  writeFileSync(webhookKeyPath(directory), file, { mode: 0o600 });
  const webhook = { id: 17, created: CREATED, key: '6e027898607de14f' };
  assert.is(
    new WebhookKey(directory).secretOf(webhook),
    'whsec_Xg0xKxLmP5h3ypX4p3ILal3bodUnDENgA4+Kr5BOvRc=',
  );
});

test('a file that is put back is used without a restart, for old webhooks and for new ones', async () => {
  const directory = temporaryDirectory();
  const path = webhookKeyPath(directory);
  const first = await new WebhookKey(directory).id();
  const secret = new WebhookKey(directory).secretOf({ id: 1, created: CREATED, key: first });
  const file = readFileSync(path);
  rmSync(path);
  const keys = new WebhookKey(directory);
  const old = () => keys.secretOf({ id: 1, created: CREATED, key: first });
  assert.throws(old, isRefusal('is missing'));
  assert.is.not(await keys.id(), first);
  assert.throws(old, isRefusal('is another one'));
  writeFileSync(path, file, { mode: 0o600 });
  assert.is(old(), secret);
  assert.is(await keys.id(), first);
});

function isRefusal(what: string) {
  return (error: unknown) =>
    error instanceof CatalogError && error.code === 'key_file' && error.message.includes(what);
}

test.run();
