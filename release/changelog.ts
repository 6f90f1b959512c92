/** The part of CHANGELOG.md that belongs to a version. */

/** A heading of a version, in the form of Keep a Changelog: `## 0.1.0 - 2026-11-22`. */
const HEADING = /^## \[?(Unreleased|\d+\.\d+\.\d+)\]?(?: - \d{4}-\d\d-\d\d)?$/;

/**
 * @param changelog the text of CHANGELOG.md.
 * @param version such as `0.1.0`, or `Unreleased`.
 * @returns the section without its heading.
 * @throws Error if there is none, or if it is empty.
 */
export function sectionOf(changelog: string, version: string): string {
  const lines = changelog.split('\n');
  const start = lines.findIndex((line) => HEADING.exec(line)?.[1] === version);
  if (start < 0) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith('## '));
  const section = rest
    .slice(0, end < 0 ? rest.length : end)
    .join('\n')
    .trim();
  if (section === '') throw new Error(`the section "## ${version}" of CHANGELOG.md is empty`);
  return section;
}
