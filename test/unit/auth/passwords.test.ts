/** Which passwords are accepted, and how they are hashed and verified. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dummyHash, hashPassword, verifyPassword } from '../../../src/auth/passwords.ts';
import { failureOf } from '../../support/failure.ts';

async function refusal(password: string): Promise<string> {
  const error = await failureOf(() => hashPassword(password));
  assert.is(error.code, 'account');
  assert.not.ok(password.length > 3 && error.message.includes(password));
  return error.message;
}

const PARAMETERS = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]+\$[\w+/]+$/;

test('a password is hashed with argon2id and a new salt each time', async () => {
  const hashes = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  for (const hash of hashes) assert.match(hash, PARAMETERS);
  assert.is.not(hashes[0], hashes[1]);
});

test('the right password is verified, and others are not', async () => {
  const hash = await hashPassword('correct horse');
  assert.ok(await verifyPassword('correct horse', hash));
  for (const wrong of [
    '',
    '-',
    'correct hors',
    'correct horse ',
    'Correct horse',
    'x'.repeat(2000),
  ]) {
    assert.not.ok(await verifyPassword(wrong, hash), wrong.slice(0, 20));
  }
});

test('fewer than 8 characters are refused, and an emoji counts as one', async () => {
  for (const short of ['', 'a', 'seven 7', '😀😀😀😀😀😀😀']) {
    assert.match(await refusal(short), /at least 8/);
  }
  await hashPassword('eight 8 ');
  await hashPassword('😀😀😀😀😀😀😀😀');
});

test('more than 1024 bytes are refused for a new password, and never verified', async () => {
  const longest = 'é'.repeat(512);
  const hash = await hashPassword(longest);
  assert.ok(await verifyPassword(longest, hash));
  assert.ok(await verifyPassword(longest.normalize('NFD'), hash), 'composed in the same way first');
  for (const long of [`${longest}x`, 'x'.repeat(1025)]) {
    assert.match(await refusal(long), /at most 1024/);
    assert.not.ok(await verifyPassword(long, hash));
  }
});

test('a password that is never accepted costs its client a hash all the same', async () => {
  const { verify } = Bun.password;
  const hashed: unknown[] = [];
  Bun.password.verify = (password, ...rest) => {
    hashed.push(password);
    return verify(password, ...rest);
  };
  try {
    const hash = dummyHash();
    for (const password of ['', 'x'.repeat(1025), '\u00e9'.repeat(513)]) {
      assert.not.ok(await verifyPassword(password, hash));
    }
  } finally {
    Bun.password.verify = verify;
  }
  // Bun answers at once to an empty password.
  assert.equal(hashed, ['-', '-', '-']);
});

test('composed and decomposed letters are the same password', async () => {
  const hash = await hashPassword('caf\u00e9 cr\u00e8me');
  assert.ok(await verifyPassword('cafe\u0301 cre\u0300me', hash));
  assert.not.ok(await verifyPassword('cafe creme', hash));
});

test('the hash for unknown names has the same cost, and no password matches it', async () => {
  const hash = dummyHash();
  assert.match(hash, PARAMETERS);
  assert.is(hash.length, (await hashPassword('a real password')).length);
  assert.is.not(dummyHash(), hash);
  for (const guess of ['', '-', 'password']) assert.not.ok(await verifyPassword(guess, hash));
});

test.run();
