/** spec 6.6: revocations of tokens, of which any user can send many at once. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createTokenService } from '../../../../src/app/services/token-service.ts';
import { accessPath, readAccess } from '../../../../src/auth/access.ts';
import type { Verified } from '../../../../src/auth/tokens.ts';
import { CatalogError, hasCode } from '../../../../src/errors.ts';
import { quickDisk } from '../../../support/disk.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

const unused = () => Promise.reject(new Error('is not called'));

/** The service in a directory without accounts. @param push called before each write. */
function open(push: () => Promise<void>) {
  const data = temporaryDirectory();
  const shared = { pull: () => Promise.resolve(), push, requireConfirmed() {} };
  const place = { data, disk: quickDisk, shared };
  const service = createTokenService({ issue: unused }, { renew: unused }, place);
  const revoked = () => [...(readAccess(accessPath(data))?.tokens.keys() ?? [])];
  return { service, revoked };
}

function tokenOf(subject: string): Verified {
  const now = Math.floor(Date.now() / 1000);
  const times = { issued: now, expires: now + 3600, loggedIn: null };
  return { subject, id: `of ${subject}`, role: 'viewer', ...times };
}

test('a user cannot delay others by revoking a token many times at once', async () => {
  let writes = 0;
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { service, revoked } = open(async () => {
    writes += 1;
    begin();
    if (writes === 1) await first;
  });
  const own = tokenOf('ann');
  const revokeOften = () => Array.from({ length: 100 }, () => service.revoke(own.id, own));
  const early = revokeOften();
  await begun;
  // These wait for the first write.
  const late = revokeOften();
  const byAdmin = service.revoke('another', null);
  resolve();
  await Promise.all([...early, ...late, byAdmin]);
  assert.is(writes, 2);
  assert.equal(revoked(), [own.id, 'another']);
});

test('a write of revocations that fails does not affect the next one', async () => {
  let fails = true;
  const { service, revoked } = open(async () => {
    if (fails) throw new CatalogError('log_unavailable', 'the change failed');
  });
  const failed = await Promise.allSettled([service.revoke('a', null), service.revoke('b', null)]);
  for (const each of failed) {
    assert.ok(each.status === 'rejected' && hasCode(each.reason, 'log_unavailable'), each.status);
  }
  fails = false;
  await service.revoke('c', null);
  assert.equal(revoked(), ['c']);
});

test.run();
