/**
 * The files that every platform gets with the executable: licences, manual page, completions, the
 * documents, which messages of the program name, and the templates, with which those of a shop begin.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { completionScript, type Shell } from '../src/cli/completion.ts';
import { TEMPLATE_NAMES } from '../src/pages/render/template-sources.ts';
import { manualPage } from './manual.ts';
import { ROOT } from './paths.ts';
import { inertProgram } from './program-facts.ts';

/** Paths. */
export interface SharedFiles {
  readonly licence: string;
  /** The licences of the libraries in the executable. */
  readonly thirdParty: string;
  readonly manual: string;
  readonly completions: Readonly<Record<Shell, string>>;
  /** With the templates; relative to the root of the source. */
  readonly documents: readonly string[];
}

/** The documents beside the folder of the others, which these refer to. */
const AT_THE_ROOT = ['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'];

/** @returns the documents and the templates, relative to the root of the source. */
export function documents(): string[] {
  const found = readdirSync(join(ROOT, 'docs'), { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  const docs = files.map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)));
  const templates = TEMPLATE_NAMES.map((name) => join('templates', name));
  return [...AT_THE_ROOT, ...docs, ...templates].toSorted();
}

/**
 * @param directory where they are written.
 * @param version of the program.
 * @param time of the release, in seconds since the epoch; the manual page names its day.
 * @param licences the text of `thirdParty`.
 */
export function writeSharedFiles(
  directory: string,
  version: string,
  time: number,
  licences: string,
): SharedFiles {
  const program = inertProgram();
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const completion = (shell: Shell) =>
    write(`completion.${shell}`, `${completionScript(program, shell)}\n`);
  return {
    licence: join(ROOT, 'LICENSE'),
    thirdParty: write('THIRD-PARTY', licences),
    manual: write('catalog-server.1', manualPage(program, version, dayOf(time))),
    completions: { bash: completion('bash'), zsh: completion('zsh'), fish: completion('fish') },
    documents: documents(),
  };
}

/** @returns YYYY-MM-DD. */
function dayOf(time: number): string {
  return new Date(time * 1000).toISOString().slice(0, 10);
}
