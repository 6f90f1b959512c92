import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import {
  ConfirmedCredentials,
  Confirmation,
} from '../../../../src/hosts/following/confirmation.ts';
import { FixedCredentials } from '../../../support/credentials.ts';

function clocks() {
  const instant = { monotonic: 1000, wall: 5_000_000 };
  return { instant, read: () => ({ ...instant }) };
}

test('spec 15.12: credentials are not current before the primary has confirmed them', () => {
  const { read } = clocks();
  assert.is(new Confirmation(10_000, read).isCurrent, false);
});

test('spec 15.12: the age of a confirmation is measured from the sending of the request', () => {
  const { instant, read } = clocks();
  const confirmation = new Confirmation(10_000, read);
  const sent = confirmation.now();
  instant.monotonic += 9000;
  instant.wall += 9000;
  confirmation.confirm(sent);
  assert.is(confirmation.age, 9000);
  assert.is(confirmation.isCurrent, true);
  instant.monotonic += 1001;
  assert.is(confirmation.isCurrent, false);
});

test('a response to an earlier request does not change the age', () => {
  const { instant, read } = clocks();
  const confirmation = new Confirmation(10_000, read);
  const first = confirmation.now();
  instant.monotonic += 2000;
  confirmation.confirm(confirmation.now());
  confirmation.confirm(first);
  assert.is(confirmation.age, 0);
});

test('a confirmation expires even if one of the two clocks stands still', () => {
  for (const clock of ['monotonic', 'wall'] as const) {
    const { instant, read } = clocks();
    const confirmation = new Confirmation(10_000, read);
    confirmation.confirm(confirmation.now());
    instant[clock] += 20_000;
    assert.is(confirmation.isCurrent, false, `${clock} alone went on`);
  }
});

test('unconfirmed credentials fail with cut_off until they are confirmed', () => {
  const confirmation = { isCurrent: false };
  const source = new FixedCredentials([{ kid: 'k', secret: new Uint8Array(32) }]);
  const credentials = new ConfirmedCredentials(source, confirmation);
  const isCutOff = (error: unknown) => error instanceof CatalogError && error.code === 'cut_off';
  assert.throws(() => credentials.current(), isCutOff);
  confirmation.isCurrent = true;
  assert.is(credentials.current(), source.current());
});

test.run();
