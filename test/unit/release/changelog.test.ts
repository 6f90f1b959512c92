/** The notes of a release are the section of its version in CHANGELOG.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
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

test('CHANGELOG.md has a section for unreleased changes', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  assert.ok(sectionOf(changelog, 'Unreleased').length > 100);
});

test.run();
