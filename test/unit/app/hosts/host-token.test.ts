/** The token with which a host asks another one (spec 15.15). */
import { decodeJwt } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hostToken } from '../../../../src/app/hosts/host-token.ts';
import { accountName } from '../../../../src/auth/accounts.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

test('the subject of the token cannot be the name of an account, which may be disabled', async () => {
  const { sub = '', role } = decodeJwt(await hostToken(temporaryDirectory(), undefined));
  assert.is(role, 'admin');
  assert.is(accountName(sub), null);
});

test.run();
