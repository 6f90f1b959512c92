/** What commands say about a state of the store. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { describeState } from '../../../../src/cli/commands/describe.ts';
import { State } from '../../../../src/store/state.ts';
import { Draft } from '../../../../src/store/writer/draft.ts';
import { addBook } from '../../../support/books.ts';
import { settle } from '../../../support/memory-store.ts';

test('the number of rows is in the singular if there is one', () => {
  const state = State.empty();
  const said = [describeState(state)];
  for (let nth = 1; nth <= 2; nth += 1) {
    const draft = new Draft(state);
    draft.run(addBook());
    settle(state, draft);
    said.push(describeState(state).replace(/, .*/, ''));
  }
  assert.equal(said, [
    '0 rows as of change set 0',
    '1 row as of change set 1',
    '2 rows as of change set 2',
  ]);
});

test.run();
