/** spec 6.6: clients revoke their own tokens, and cannot fill the file with them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_ENDED_TOKENS, OwnRevocations } from '../../../../src/app/services/own-revocations.ts';
import type { Verified } from '../../../../src/auth/tokens.ts';
import { emptyDraft } from '../../../support/credentials.ts';

/** Seconds since the epoch. */
const NOW = 1_800_000_000;

const tokenOf = (subject: string, id: string, expires = NOW + 86_400): Verified => {
  return { subject, id, role: 'viewer', issued: NOW, expires, loggedIn: null };
};

test('each of the first 100 tokens that a subject revokes gets one entry', () => {
  const draft = emptyDraft();
  const revocations = new OwnRevocations();
  for (let each = 0; each < MAX_ENDED_TOKENS; each += 1) {
    revocations.end(draft, tokenOf('ann', `ann ${each}`), NOW);
  }
  revocations.end(draft, tokenOf('ann', 'ann 0'), NOW);
  assert.is(draft.tokens.size, 100);
  assert.is(draft.subjects.size, 0);
  // After that it is removed from the file.
  assert.is(draft.tokens.get('ann 0'), NOW + 86_400, 'an entry names the expiry of its token');
});

test('if a subject revokes more than 100 tokens, all its tokens are revoked, but not those of others', () => {
  const draft = emptyDraft();
  const revocations = new OwnRevocations();
  revocations.end(draft, tokenOf('bob', 'bob'), NOW);
  for (let each = 0; each < 10 * MAX_ENDED_TOKENS; each += 1) {
    revocations.end(draft, tokenOf('ann', `ann ${each}`), NOW + each);
    assert.ok(draft.tokens.size <= MAX_ENDED_TOKENS + 1, `${draft.tokens.size}`);
  }
  assert.ok(draft.tokens.has('bob'));
  assert.equal([...draft.subjects.keys()], ['ann']);
  assert.ok((draft.subjects.get('ann') ?? 0) >= NOW + 9 * MAX_ENDED_TOKENS);
});

test('after all tokens of a subject were revoked, its next ones are revoked one by one again', () => {
  const draft = emptyDraft();
  const revocations = new OwnRevocations();
  for (let each = 0; each <= MAX_ENDED_TOKENS; each += 1) {
    revocations.end(draft, tokenOf('ann', `ann ${each}`), NOW);
  }
  assert.equal([...draft.subjects], [['ann', NOW]]);
  assert.is(draft.tokens.size, 0, 'one entry replaces the others');
  revocations.end(draft, tokenOf('ann', 'later'), NOW + 60);
  assert.equal([...draft.tokens.keys()], ['later']);
  assert.equal([...draft.subjects], [['ann', NOW]]);
});

test('expired tokens do not count towards the limit', () => {
  const draft = emptyDraft();
  const revocations = new OwnRevocations();
  for (let each = 0; each < 10 * MAX_ENDED_TOKENS; each += 1) {
    revocations.end(draft, tokenOf('ann', `ann ${each}`, NOW + each), NOW + each);
  }
  assert.is(draft.subjects.size, 0);
});

test.run();
