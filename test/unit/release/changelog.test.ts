/** The notes of a release are the section of its version in CHANGELOG.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../../package.json' with { type: 'json' };
import { sectionOf } from '../../../release/changelog.ts';
import { ROOT } from '../../support/paths.ts';

const CHANGELOG = `# Changelog

## Unreleased

### Added

- Something new.

## [0.2.0] - 2026-12-24

- ## is no heading inside a line.

## 0.1.0 - 2026-11-22
- The first.

## 0.0.9

`;

test('the section of a version ends at the next version', () => {
  assert.is(sectionOf(CHANGELOG, 'Unreleased'), '### Added\n\n- Something new.');
  assert.is(sectionOf(CHANGELOG, '0.2.0'), '- ## is no heading inside a line.');
  assert.is(sectionOf(CHANGELOG, '0.1.0'), '- The first.');
});

test('a version without a section, or with an empty one, is an error', () => {
  assert.throws(() => sectionOf(CHANGELOG, '0.3.0'), /no section "## 0\.3\.0"/);
  assert.throws(() => sectionOf(CHANGELOG, '0.1'), /no section/);
  assert.throws(() => sectionOf(CHANGELOG, '0.0.9'), /is empty/);
});

/** The versions in the headings of a changelog, whatever else is in a heading. */
const versionsIn = (changelog: string) =>
  [...changelog.matchAll(/^## \[?([^\s\]]*)/gm)].map(([, name = '']) => name);

test('CHANGELOG.md begins with unreleased changes, and each older version has a section', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const [first, ...released] = versionsIn(changelog);
  assert.is(first, 'Unreleased');
  for (const name of released) assert.ok(sectionOf(changelog, name).length > 0, name);
  // Until its release, the changes of the version in package.json are the unreleased ones.
  const next = released.includes(version) ? version : 'Unreleased';
  assert.ok(sectionOf(changelog, next).length > 100);
});

test.run();
