import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';

test('goes on until it is interrupted', async () => {
  writeFileSync(join(tmpdir(), `endless-${process.pid}`), '');
  await new Promise(() => setInterval(() => {}, 1000));
});

test.run();
