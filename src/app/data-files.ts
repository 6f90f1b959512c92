/** What the program creates in a data directory (docs/storage.md). */

const NAMES: ReadonlySet<string> = new Set([
  'access.json',
  'access.lock',
  'archive.json',
  'backup.json',
  'catalog.json',
  'changes',
  'cluster.json',
  // In `data/` of the source, which `npm start` serves.
  'demo.json',
  'head.json',
  'host.json',
  'imports',
  'keys.json',
  'lock',
  'outline.json',
  'pages',
  'pages.json',
  'pages.lock',
  'pages.manifest',
  'webhook-key.json',
  'webhooks',
  'workers.sock',
]);

/** The files of an older version that a migration keeps. */
const MIGRATED = /^migrated-from-\d+$/;

/**
 * Whether the program, or the file system, could have created an entry of a data directory. Hidden
 * entries count: temporary files and the staging directory are hidden.
 */
export function isDataFile(name: string): boolean {
  return NAMES.has(name) || MIGRATED.test(name) || name.startsWith('.') || name === 'lost+found';
}
