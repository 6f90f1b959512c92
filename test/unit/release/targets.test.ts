/** The platforms of a release: each has a runtime in the lock file; Windows is not included. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { targetsNamed } from '../../../release/targets.ts';
import { ROOT } from '../../support/paths.ts';

const Lock = v.object({
  packages: v.record(
    v.string(),
    v.object({ version: v.optional(v.string()), integrity: v.optional(v.string()) }),
  ),
});

test('by default a release is for Linux with glibc and musl, and for macOS', () => {
  assert.equal(
    targetsNamed([]).map(({ name }) => name),
    [
      'linux-x64',
      'linux-arm64',
      'linux-x64-musl',
      'linux-arm64-musl',
      'darwin-x64',
      'darwin-arm64',
    ],
  );
});

test('package-lock.json has the digest of the runtime of every target, all in one version', () => {
  const { packages } = v.parse(
    Lock,
    JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')),
  );
  for (const { runtime } of targetsNamed([])) {
    const entry = packages[`node_modules/${runtime}`];
    assert.is(entry?.version, packages['node_modules/bun']?.version, runtime);
    assert.match(entry?.integrity ?? '', /^sha512-/, runtime);
  }
});

test('targets are selected by name, and Windows and unknown names are refused', () => {
  assert.equal(
    targetsNamed(['darwin-x64', 'linux-arm64']).map(({ name }) => name),
    ['darwin-x64', 'linux-arm64'],
  );
  for (const name of ['windows-x64', 'win32-arm64']) {
    assert.throws(() => targetsNamed([name]), /^Windows is not supported, because .+ WSL 2/);
  }
  assert.throws(() => targetsNamed(['linux-riscv64']), /^linux-riscv64 is not a target; name one/);
});

test.run();
