/** The state of the checkout that a release is made from, as git reports it. */
import { run } from './command.ts';
import { ROOT } from './paths.ts';

export interface Checkout {
  readonly commit: string;
  /** Of the commit, in seconds since the epoch. All files of a release have this time. */
  readonly time: number;
  /** Whether the commit has the tag of the version, such as `v0.1.0`. */
  readonly isTagged: boolean;
}

/**
 * @param version of package.json.
 * @throws Error if a file differs from the commit or is not in it, or the tag is of another
 *   version.
 */
export function cleanCheckout(version: string): Checkout {
  const changed = git('status', '--porcelain');
  if (changed !== '') {
    throw new Error(`a release is made of a commit alone; commit or remove first:\n${changed}`);
  }
  const tags = git('tag', '--points-at', 'HEAD').split('\n');
  const versions = tags.filter((tag) => /^v\d/.test(tag));
  const isTagged = versions.includes(`v${version}`);
  if (versions.length > 0 && !isTagged) {
    throw new Error(`the tag ${versions.join(', ')} is not version ${version} of package.json`);
  }
  const time = Number(git('log', '-1', '--format=%ct'));
  return { commit: git('rev-parse', 'HEAD'), time, isTagged };
}

function git(...args: readonly string[]): string {
  return run('git', args, { cwd: ROOT }).toString().trim();
}
