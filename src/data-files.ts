/** The names of what the program creates in a data directory (docs/storage.md). */

export const DATA_FILES = {
  /** Accounts and revocations, and the lock under which they and the keys are changed. */
  access: 'access.json',
  accessLock: 'access.lock',
  /** The archive to which the directory is written. */
  archive: 'archive.json',
  /** The time of the last backup. */
  backup: 'backup.json',
  /** The base document. */
  base: 'catalog.json',
  /** The directory of change sets. */
  changes: 'changes',
  /** The settings of a host that shares its log; only such a host has the file. */
  cluster: 'cluster.json',
  /** The last change set that was answered. */
  head: 'head.json',
  /** The role of the directory among hosts. */
  host: 'host.json',
  imports: 'imports',
  keys: 'keys.json',
  /** The lock of the process that owns the directory. */
  lock: 'lock',
  outline: 'outline.json',
  pages: 'pages',
  pagesLock: 'pages.lock',
  pagesManifest: 'pages.manifest',
  pageSettings: 'pages.json',
  webhookKey: 'webhook-key.json',
  /** The directory with the progress of deliveries. */
  webhooks: 'webhooks',
  workersSocket: 'workers.sock',
} as const;

const NAMES: ReadonlySet<string> = new Set(Object.values(DATA_FILES));

const MIGRATED = /^migrated-from-\d+$/;

/** @returns the name of the directory with the files of schema version `schema`. */
export function migrationBackupName(schema: number): string {
  return `migrated-from-${schema}`;
}

/** Whether a name is one of {@link migrationBackupName}. */
export function isMigrationBackup(name: string): boolean {
  return MIGRATED.test(name);
}

/** Whether the program gives this name to an entry of a data directory that stays there. */
export function isReserved(name: string): boolean {
  return NAMES.has(name) || isMigrationBackup(name);
}

/**
 * Whether the program, or the file system, could have created an entry of a data directory. Hidden
 * entries count: temporary files and the staging directory are hidden.
 */
export function isDataFile(name: string): boolean {
  if (isReserved(name) || name.startsWith('.')) return true;
  // The demo is in `data/` of the source, which `npm start` serves.
  return name === 'demo.json' || name === 'lost+found';
}
