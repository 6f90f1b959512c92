/** What the files of a store have in common. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as v from 'valibot';
import { parseShape } from '../../../../src/store/files/files.ts';
import { failureMessage } from '../../../support/failure.ts';

test('a file is not judged further after its first fault', async () => {
  // Anybody may have made an object of an archive, and every fault that is collected takes memory.
  let judged = 0;
  const never = v.custom<number>(() => {
    judged += 1;
    return false;
  }, 'must be something else');
  const judge = () => parseShape('a.json', v.array(never), [1, 2, 3]);
  assert.match(
    await failureMessage(judge, 'store_damaged'),
    /^a\.json is damaged: .*something else/,
  );
  assert.is(judged, 1);
});

test.run();
