/** The subject of the writes of commands (spec 8.12). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandSubject } from '../../../../src/cli/commands/subject.ts';

test('the subject is the user of the operating system, not that of the environment', () => {
  const before = { ...process.env };
  const subject = commandSubject();
  assert.match(subject, /^cli:\S+$/);
  try {
    for (const name of ['USER', 'LOGNAME', 'USERNAME']) process.env[name] = 'mallory';
    assert.is(commandSubject(), subject);
  } finally {
    for (const name of ['USER', 'LOGNAME', 'USERNAME']) {
      if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = before[name];
    }
  }
});

test.run();
