/**
 * The files that `npm run release` makes. CI makes no release, so run these tests with:
 *
 *     npm run release && bun test/process/release/archives.trial.ts
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../../package.json' with { type: 'json' };
import { targetsNamed } from '../../../release/targets.ts';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { ROOT } from '../../support/paths.ts';
import { verifyPages } from '../../support/mac-signature.ts';
import { missingFor, RELEASE, succeed, unpack } from '../../support/release.ts';
import { killServers, serving } from '../../support/server.ts';

const LAST = `catalog-server-${version}-darwin-arm64.tar.zst`;

function testOf(name: string, programs: readonly string[], body: () => Promise<void> | void): void {
  const missing = missingFor(LAST, ['zstd', ...programs]);
  if (missing === null) test(name, async () => body());
  else test.skip(`${name} (skipped: ${missing})`, () => {});
}

test.after(killServers);

testOf('SHA256SUMS lists every other file of the release with its digest', ['sha256sum'], () => {
  succeed('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], RELEASE);
  const sums = readFileSync(join(RELEASE, 'SHA256SUMS'), 'utf8').trim().split('\n');
  const names = readdirSync(RELEASE).filter((name) => name !== 'SHA256SUMS');
  assert.equal(sums.map((line) => line.slice(66)).sort(), names.sort());
  assert.ok(names.includes('NOTES.md'));
  assert.is(names.filter((name) => name.endsWith('.tar.zst')).length, 6);
  assert.is(names.filter((name) => name.endsWith('.deb')).length, 2);
});

testOf('the SBOM lists Bun and the libraries, but no development dependencies', [], () => {
  const text = readFileSync(join(RELEASE, `catalog-server-${version}.cdx.json`), 'utf8');
  const bom = JSON.parse(text);
  const names = new Set(bom.components.map((component: { name: string }) => component.name));
  assert.is(bom.bomFormat, 'CycloneDX');
  assert.is(bom.metadata.component.name, 'catalog-server');
  for (const name of ['bun', 'valibot', 'preact']) assert.ok(names.has(name), name);
  for (const name of ['uvu', 'typescript']) assert.not.ok(names.has(name), name);
});

testOf(
  'all archives have the same files, and no executable contains a path of the build machine',
  [],
  () => {
    for (const { name } of targetsNamed([])) {
      const folder = unpack(name, temporaryDirectory());
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
      const isDocument = (file: string) => /^(?:docs|templates)(?:\/|$)/.test(file);
      for (const file of ['docs/storage.md', 'docs/examples/nginx.conf', 'templates/sku.njk']) {
        assert.ok(files.includes(file), file);
      }
      assert.equal(
        files.filter((file) => !isDocument(file)),
        [
          'CHANGELOG.md',
          'CONTRIBUTING.md',
          'LICENSE',
          'README.md',
          'SECURITY.md',
          'THIRD-PARTY',
          'catalog-server',
          'catalog-server.1',
          'completions',
          'completions/_catalog-server',
          'completions/catalog-server.bash',
          'completions/catalog-server.fish',
        ],
      );
      const executable = readFileSync(join(folder, 'catalog-server'));
      assert.not.ok(executable.includes(`${ROOT}/src`), name);
      assert.not.ok(executable.includes(`${ROOT}/node_modules`), name);
      assert.match(readFileSync(join(folder, 'THIRD-PARTY'), 'utf8'), /^valibot \d/m);
    }
  },
);

testOf('groff reads the manual page without a warning', ['groff'], () => {
  const page = join(unpack('linux-x64', temporaryDirectory()), 'catalog-server.1');
  assert.match(succeed('groff', ['-man', '-Tutf8', '-ww', page]), 'CATALOG_PORT');
});

/** Creates and serves the demo catalog in an empty directory, reads a book and stops. */
async function tryOut(command: readonly string[]): Promise<void> {
  const cwd = temporaryDirectory();
  const [program = '', ...before] = command;
  assert.is(succeed(program, [...before, '--version'], cwd), `${version}\n`);
  succeed(program, [...before, 'migrate', '--demo'], cwd);
  const child = spawn(program, [...before, 'serve', '--port', '0'], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const server = await serving(child);
  const book = await send(server, 'GET', '/books/1/', { token: null });
  assert.is(book.json.name, 'Pride and Prejudice');
  assert.is((await server.stop()).status, 0);
}

testOf('the executable for Linux x64 serves', [], async () => {
  await tryOut([join(unpack('linux-x64', temporaryDirectory()), 'catalog-server')]);
});

/**
 * Debian has musl, but no C++ library for it. So the executable gets the library for glibc, and a
 * few functions that only glibc has. On Alpine the package libstdc++ is enough.
 */
testOf('the executable for musl serves with the C library of musl', ['musl-gcc'], async () => {
  const directory = temporaryDirectory();
  const libraries = '/usr/lib/x86_64-linux-gnu';
  succeed('cp', [`${libraries}/libstdc++.so.6`, `/lib/x86_64-linux-gnu/libgcc_s.so.1`, directory]);
  const name = 'ld-linux-x86-64.so.2';
  const source = join(import.meta.dir, 'musl', 'glibc-functions.c');
  succeed('musl-gcc', ['-shared', '-fPIC', '-o', join(directory, name), source]);
  const executable = join(unpack('linux-x64-musl', directory), 'catalog-server');
  // Only this program may find these libraries, not those of Debian.
  const script = join(directory, 'run');
  writeFileSync(script, `#!/bin/sh\nLD_LIBRARY_PATH=${directory} exec ${executable} "$@"\n`);
  succeed('chmod', ['755', script]);
  await tryOut([script]);
});

testOf('the executables for macOS are signed; macOS kills unsigned ones', [], () => {
  for (const target of ['darwin-x64', 'darwin-arm64']) {
    const folder = unpack(target, temporaryDirectory());
    const { pages, wrong } = verifyPages(readFileSync(join(folder, 'catalog-server')));
    assert.ok(pages > 1000, `${pages} pages`);
    assert.is(wrong, null, target);
  }
});

test.run();
