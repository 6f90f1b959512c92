/** src/cli/progress-bar.ts: what the bar shows, and the text for the remaining time. */
import { Writable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProgressBar, timeLeft } from '../../../src/cli/progress-bar.ts';
import { withClock } from '../../support/clock.ts';

const CASES: readonly [done: number, total: number, seconds: number, text: string][] = [
  [0, 10, 0, 'time left unknown'],
  [0, 10, 5, 'time left unknown'],
  [0, 0, 0, '0 s left'],
  [5, 10, 5, '5 s left'],
  [10, 10, 7, '0 s left'],
  [12, 10, 7, '0 s left'],
  [1, 60, 1, '59 s left'],
  [1, 61, 1, '1 min 0 s left'],
  [1, 126, 1, '2 min 5 s left'],
  [1, 3600, 1, '59 min 59 s left'],
  [1, 3601, 1, '1 h 0 min left'],
  [1, 7321, 1, '2 h 2 min left'],
];

for (const [done, total, seconds, text] of CASES) {
  test(`after ${seconds} s with ${done} of ${total} done, the text is "${text}"`, () => {
    assert.is(timeLeft(done, total, seconds), text);
  });
}

/** What a terminal has received from a bar. */
async function printedBy(
  run: (bar: ProgressBar, pass: (milliseconds: number) => void) => void,
): Promise<string> {
  let printed = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      printed += String(chunk);
      done();
    },
  });
  const terminal = Object.assign(stream, { isTTY: true, columns: 80 });
  await withClock(async (pass) => run(new ProgressBar(terminal, 'pages'), pass));
  return printed;
}

test('a bar shows how much is done, how much a second, and the time left', async () => {
  const printed = await printedBy((bar, pass) => {
    bar.show(0, 20);
    pass(2000);
    bar.show(10, 20);
    bar.stop();
  });
  assert.match(printed, '0% 0/20 pages, 0/s, time left unknown');
  assert.match(printed, '50% 10/20 pages, 5/s, 2 s left');
  const atOnce = await printedBy((bar) => {
    bar.show(20, 20);
    bar.stop();
  });
  assert.match(atOnce, '100% 20/20 pages, 0/s, 0 s left');
});

test('a terminal of 80 columns shows the time left of a long run', async () => {
  const printed = await printedBy((bar, pass) => {
    bar.show(0, 1_107_372);
    pass(1_000_000);
    bar.show(600_000, 1_107_372);
    bar.stop();
  });
  assert.match(printed, '54% 600000/1107372 pages, 600/s, 14 min 6 s left');
});

test('a bar sets no mode of the terminal, which would stay set if a signal ended the command', async () => {
  const printed = await printedBy((bar) => {
    bar.show(1, 2);
    bar.stop();
  });
  assert.match(printed, '50% 1/2 pages');
  // Such a sequence hides the cursor, or ends the wrapping of long lines.
  assert.not.match(printed, '\u001b[?');
});

test('a bar that was never shown prints nothing when it stops', async () => {
  assert.is(await printedBy((bar) => bar.stop()), '');
});

test.run();
