/** spec 6.6: callers end their own tokens, and cannot fill the file with them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { AccessDraft } from '../../../../src/auth/access.ts';
import { MAX_ENDED_TOKENS, OwnRevocations } from '../../../../src/app/services/own-revocations.ts';
import type { Verified } from '../../../../src/auth/tokens.ts';

/** Seconds since the epoch. */
const NOW = 1_800_000_000;

const emptyDraft = (): AccessDraft => ({
  users: new Map(),
  subjects: new Map(),
  tokens: new Map(),
});

const tokenOf = (subject: string, id: string, expires = NOW + 86_400): Verified => {
  return { subject, id, role: 'viewer', issued: NOW, expires, loggedIn: null };
};

test('a token that its caller ends is one entry, until a subject has as many as there is room for', () => {
  const draft = emptyDraft();
  const revocations = new OwnRevocations();
  for (let each = 0; each < MAX_ENDED_TOKENS; each += 1) {
    revocations.end(draft, tokenOf('ann', `ann ${each}`), NOW);
  }
  revocations.end(draft, tokenOf('ann', 'ann 0'), NOW);
  assert.is(draft.tokens.size, MAX_ENDED_TOKENS);
  assert.is(draft.subjects.size, 0);
});

test('then all tokens of the subject end, and those of others are as they were', () => {
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

test('tokens that have expired do not count', () => {
  const draft = emptyDraft();
  const revocations = new OwnRevocations();
  for (let each = 0; each < 10 * MAX_ENDED_TOKENS; each += 1) {
    revocations.end(draft, tokenOf('ann', `ann ${each}`, NOW + each), NOW + each);
  }
  assert.is(draft.subjects.size, 0);
});

test.run();
