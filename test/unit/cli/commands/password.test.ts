/** How much of standard input is read for a password (`users`: test/process/cli/users). */
import { PassThrough, Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { askPassword } from '../../../../src/cli/commands/access/password.ts';
import { contextOf } from '../../../support/service.ts';

test('standard input without an end is refused after a few pieces', async () => {
  let pieces = 0;
  const endless = function* () {
    // A test that fails ends as well.
    for (; pieces < 1000; pieces += 1) yield Buffer.alloc(1024, 'x');
  };
  const input = () => Readable.from(endless());
  try {
    await askPassword('ann', { ...contextOf(), input });
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'standard input has more than 4096 bytes');
  }
  assert.ok(pieces < 100, `${pieces} pieces`);
});

test('a password that is typed in another encoding than UTF-8 is refused', async () => {
  const typed = new PassThrough();
  const input = () => Object.assign(typed, { isTTY: true, setRawMode() {} });
  typed.end(Buffer.from('gr\u00f6\u00dfer als\rgr\u00f6\u00dfer als\r', 'latin1'));
  try {
    await askPassword('ann', { ...contextOf(), input, terminal: new PassThrough().resume() });
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'the password typed is not UTF-8');
  }
});

test('what is typed is not shown if standard error is no terminal, and the prompts go there', async () => {
  const typed = new PassThrough();
  const modes: boolean[] = [];
  const setRawMode = (isRaw: boolean) => void modes.push(isRaw);
  const input = () => Object.assign(typed, { isTTY: true, setRawMode });
  typed.end('a long password\ra long password\r');
  const said: string[] = [];
  const warn = (line: string) => void said.push(line);
  const context = { ...contextOf(), input, warn, terminal: null };
  assert.is(await askPassword('ann', context), 'a long password');
  assert.equal(said, ['Password of ann:', 'Repeat the password:']);
  assert.equal(modes, [true, false]);
});

test.run();
