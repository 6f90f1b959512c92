/** House rules for the dependencies: pinned, locked in two files alike, installable, explained. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../support/paths.ts';

const Versions = v.record(v.string(), v.string());

const Manifest = v.object({ dependencies: Versions, devDependencies: Versions });

const NpmLock = v.object({
  packages: v.record(
    v.string(),
    v.object({
      name: v.optional(v.string()),
      version: v.optional(v.string()),
      resolved: v.optional(v.string()),
      integrity: v.optional(v.string()),
      link: v.optional(v.boolean()),
      optional: v.optional(v.boolean()),
      os: v.optional(v.array(v.string())),
      cpu: v.optional(v.array(v.string())),
      dependencies: v.optional(Versions),
      devDependencies: v.optional(Versions),
      optionalDependencies: v.optional(Versions),
    }),
  ),
});

/** A package of bun.lock begins with its name and version: `uvu@0.5.6`. */
const BunLock = v.object({
  workspaces: v.object({ '': Manifest }),
  packages: v.record(v.string(), v.looseTuple([v.string()])),
});

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}

const { dependencies, devDependencies } = v.parse(Manifest, JSON.parse(read('package.json')));
const NPM = v.parse(NpmLock, JSON.parse(read('package-lock.json'))).packages;
const BUN = v.parse(BunLock, Bun.JSONC.parse(read('bun.lock')));

/** The client generator is a folder of this repository, and has no version to pin. */
const OF_THE_REPOSITORY = /^(?:client-generator@|test\/)/;

/** What npm would install, as `name@version`, and whether the lock has its digest. */
const NPM_PACKAGES = new Map(
  Object.entries(NPM)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path, entry]) => [
      `${path.replace(/^.*node_modules\//, '')}@${entry.version}`,
      entry.integrity !== undefined,
    ]),
);

const BUN_PACKAGES = new Set(
  Object.values(BUN.packages)
    .map(([name]) => name)
    .filter((name) => !OF_THE_REPOSITORY.test(name)),
);

test('package.json pins every dependency to one version', () => {
  const all = Object.entries({ ...dependencies, ...devDependencies });
  assert.ok(all.length > 30, `${all.length} dependencies`);
  for (const [name, version] of all) {
    assert.match(version, name === 'client-generator' ? /^file:/ : /^\d+\.\d+\.\d+$/, name);
  }
});

test('`npm start` runs Bun, so Bun is installed without the development dependencies', () => {
  assert.ok(dependencies['bun']);
});

test('both lock files match package.json', () => {
  assert.equal(NPM['']?.dependencies, dependencies);
  assert.equal(NPM['']?.devDependencies, devDependencies);
  assert.equal(BUN.workspaces[''].dependencies, dependencies);
  assert.equal(BUN.workspaces[''].devDependencies, devDependencies);
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    if (version.startsWith('file:')) continue;
    assert.is(NPM[`node_modules/${name}`]?.version, version, name);
  }
});

test('both lock files have the same versions', () => {
  assert.ok(BUN_PACKAGES.size > 100, `${BUN_PACKAGES.size} packages`);
  assert.equal(
    [...BUN_PACKAGES].filter((name) => !NPM_PACKAGES.has(name)),
    [],
  );
  // Only npm lists optional packages of platforms without a digest.
  assert.equal(
    [...NPM_PACKAGES].filter(([name, digest]) => digest && !BUN_PACKAGES.has(name)),
    [],
  );
});

/** Optional packages that run on every platform. */
const ANYWHERE: ReadonlySet<string> = new Set(['recheck-jar', '@types/trusted-types']);

test('the lock file has every optional package of every platform, as `npm ci` requires', () => {
  const wanted = Object.entries(NPM).flatMap(([path, { optionalDependencies }]) =>
    Object.entries(optionalDependencies ?? {}).map(([name, version]) => ({ path, name, version })),
  );
  assert.ok(wanted.length > 80, `${wanted.length} optional packages`);
  for (const { path, name, version } of wanted) {
    const entry = NPM[`${path}/node_modules/${name}`] ?? NPM[`node_modules/${name}`];
    assert.ok(Bun.semver.satisfies(entry?.version ?? '', version), name);
    assert.ok(entry?.optional, `${name} is optional`);
    assert.ok(entry?.os ?? entry?.cpu ?? ANYWHERE.has(name), `${name} names its platform`);
  }
});

test('only packages of platforms that CI does not have lack a digest', () => {
  const open = Object.entries(NPM).filter(
    ([path, { integrity, link }]) =>
      path.includes('node_modules/') && link !== true && integrity === undefined,
  );
  for (const [path, { os = [], cpu = [] }] of open) {
    const glibc = os.includes('linux') && !/musl/.test(path);
    assert.not.ok(glibc && (cpu.includes('x64') || cpu.includes('arm64')), path);
    assert.ok(os.length > 0 && cpu.length > 0, path);
  }
});

test('the lock files contain no address of a registry, so the configured one is used', () => {
  for (const [path, { resolved }] of Object.entries(NPM)) {
    assert.ok(resolved === undefined || resolved === 'test/support/client-generator', path);
  }
  assert.not.match(read('bun.lock'), /https?:\/\//);
});

test('docs/architecture.md lists every dependency once, with its purpose', () => {
  const [, section = ''] = read('docs/architecture.md').split(/^## Dependencies$/m);
  const [text = ''] = section.split(/^## /m);
  const rows = [...text.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, name]) => name ?? '');
  assert.equal(rows.sort(), Object.keys({ ...dependencies, ...devDependencies }).sort());
});

test.run();
