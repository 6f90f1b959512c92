import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { type FollowerState, requireFollowable } from '../../../../src/hosts/following/lineage.ts';
import type { HostState } from '../../../../src/http/services.ts';
import { SCHEMA_VERSION } from '../../../../src/store/files/schema.ts';
import { firstRecord, type HostRecord, promoted } from '../../../../src/store/hosts/host-record.ts';
import { stateOfPrimary } from '../../../support/host-state.ts';

const digest = (digit: string) => digit.repeat(64);

const RECORD: HostRecord = { ...firstRecord(), role: 'follower', primary: 'https://primary' };

const at = (sequence: number, of = digest('b')) => ({ sequence, digest: of });

function state(changes: Partial<HostState> = {}): HostState {
  return { ...stateOfPrimary(RECORD, at(10, digest('a'))), ...changes };
}

function refusal(own: Partial<FollowerState>, theirs: HostState): string | null {
  try {
    requireFollowable(
      { record: RECORD, at: at(5), secret: null, ...own },
      theirs,
      'https://primary',
    );
    return null;
  } catch (error) {
    if (error instanceof CatalogError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

test('spec 15.14: a host may follow if it is empty, behind, or at the same change set', () => {
  assert.is(refusal({}, state()), null);
  assert.is(refusal({ at: at(10, digest('a')) }, state()), null);
  assert.is(refusal({ record: null, at: null }, state()), null, 'an empty directory');
});

test('spec 15.14: another history is refused', () => {
  assert.match(
    refusal({}, state({ history: 'f'.repeat(32) })) ?? '',
    /^history_differs: .*another/,
  );
  const otherShop = state(firstRecord());
  assert.match(refusal({}, otherShop) ?? '', /^history_differs: .*another/);
  const later = { ...RECORD, latest: 2 };
  assert.match(refusal({ record: later }, otherShop) ?? '', /^history_differs: .*another/);
  assert.match(refusal({ record: null }, state()) ?? '', /^history_differs: .*was not taken from/);
  assert.match(refusal({ at: at(10) }, state()) ?? '', /^history_differs: change set 10 /);
});

test('spec 15.14: a host with change sets that the primary lacks is refused, and the error names them', () => {
  assert.match(refusal({ at: at(12) }, state()) ?? '', /^history_differs: .*change sets 11 to 12/);
});

test('spec 15.14: a primary of an older epoch is refused', () => {
  const record = { ...promoted(RECORD, 5), role: 'follower' as const };
  assert.match(
    refusal({ record }, state()) ?? '',
    /^not_primary: .*epoch 1, and epoch 2 has begun/,
  );
});

test('spec 15.14: a host may follow into a later epoch only if it is not past its beginning', () => {
  const { epochs } = promoted(RECORD, 5);
  assert.is(refusal({ at: at(5) }, state({ epochs })), null);
  // The primary is further ahead, so the sequence alone does not show the difference.
  assert.match(
    refusal({ at: at(7) }, state({ epochs })) ?? '',
    /^history_differs: .*change sets 6 to 7/,
  );
});

test('spec 15.14: a host may follow into a later epoch from any change set of an earlier one', () => {
  const second = promoted(RECORD, 3);
  const record = { ...second, role: 'follower' as const };
  const { epochs } = promoted(second, 7);
  assert.is(refusal({ record, at: at(7) }, state({ epochs })), null);
  assert.match(
    refusal({ record, at: at(8) }, state({ epochs })) ?? '',
    /^history_differs: .*change sets 8 to 8/,
  );
});

test('spec 15.14: a host that was promoted to the same epoch as the primary is refused', () => {
  const record = { ...promoted(RECORD, 5), role: 'follower' as const };
  const { epochs } = promoted(RECORD, 5);
  assert.match(refusal({ record }, state({ epochs })) ?? '', /^history_differs: .*two hosts were/);
});

test('spec 15.14: a host that has learned of a later epoch than the primary has does not follow it', () => {
  assert.match(
    refusal({ record: { ...RECORD, latest: 2 } }, state()) ?? '',
    /^not_primary: .*epoch 1, and epoch 2 has begun/,
  );
});

test('spec 15.14: of two promoted hosts, one follows the other only with the change sets before both', () => {
  const record = { ...promoted(RECORD, 5), role: 'follower' as const };
  const { epochs } = promoted({ ...RECORD, latest: 2 }, 8);
  assert.is(refusal({ record, at: at(5) }, state({ epochs })), null);
  assert.match(
    refusal({ record, at: at(7) }, state({ epochs })) ?? '',
    /^history_differs: .*change sets 6 to 7/,
  );
});

test('a host that is not the primary is refused', () => {
  const follower = state({ role: 'follower', primary: 'https://other' });
  assert.match(refusal({}, follower) ?? '', /^not_primary: .*follows https:\/\/other itself/);
  assert.match(refusal({}, state({ role: 'succeeded' })) ?? '', /^not_primary: .*any more/);
});

test('spec 15.10: a host with another secret or schema version is refused', () => {
  assert.match(refusal({ secret: digest('d') }, state()) ?? '', /^key_file: .*CATALOG_JWT_SECRET/);
  assert.is(refusal({ secret: digest('d') }, state({ secret: digest('d') })), null);
  for (const schema of [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1]) {
    assert.match(refusal({}, state({ schema })) ?? '', /^schema_version: /);
  }
});

test.run();
