/** The platforms that a release has an executable for. */

/** The names of Bun's targets (bun.com/docs/bundler/executables), without the prefix `bun-`. */
export type TargetName = keyof typeof PLATFORMS;

export interface Target {
  /** As the files of a release name it, and after `bun-` as Bun's compiler does. */
  readonly name: TargetName;
  /** The npm package that has Bun for the platform. */
  readonly runtime: string;
  /** The architecture as Debian calls it, if there is a Debian package for the platform. */
  readonly debian: 'amd64' | 'arm64' | null;
}

type Platform = Omit<Target, 'name'>;

const PLATFORMS = {
  'linux-x64': { runtime: '@oven/bun-linux-x64', debian: 'amd64' },
  'linux-arm64': { runtime: '@oven/bun-linux-aarch64', debian: 'arm64' },
  'linux-x64-musl': { runtime: '@oven/bun-linux-x64-musl', debian: null },
  'linux-arm64-musl': { runtime: '@oven/bun-linux-aarch64-musl', debian: null },
  'darwin-x64': { runtime: '@oven/bun-darwin-x64', debian: null },
  'darwin-arm64': { runtime: '@oven/bun-darwin-aarch64', debian: null },
} as const satisfies Readonly<Record<string, Platform>>;

const TARGETS: readonly Target[] = Object.entries(PLATFORMS).map(([name, platform]) => ({
  name: name as TargetName,
  ...platform,
}));

/**
 * Finds the targets with these names; all of them if none is named.
 *
 * @throws Error with a message for the user if a platform is not supported.
 */
export function targetsNamed(names: readonly string[]): readonly Target[] {
  return names.length === 0 ? TARGETS : names.map(targetNamed);
}

function targetNamed(name: string): Target {
  const target = TARGETS.find((each) => each.name === name);
  if (target !== undefined) return target;
  if (/^win(?:dows|32)/.test(name)) {
    throw new Error(
      'Windows is not supported, because the store needs flock(2) and synced directories; run the Linux executable in WSL 2 or in a container',
    );
  }
  const known = TARGETS.map((each) => each.name).join(', ');
  throw new Error(`${name} is not a target; name one of ${known}`);
}
