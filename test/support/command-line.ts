/** The commands of the program and their flags (spec 8.3 to 8.7, 8.11 to 8.14). */

/** The commands of groups, and their flags. */
export const NESTED: Readonly<Record<string, readonly string[]>> = {
  'users add': ['--data', '--role', '--verbose'],
  'users list': ['--data'],
  'users passwd': ['--data'],
  'users role': ['--data'],
  'users disable': ['--data'],
  'users enable': ['--data'],
  'users remove': ['--data'],
  'tokens revoke': ['--data', '--subject'],
  'keys rotate': ['--data', '--overlap'],
  'keys list': ['--data'],
};

/** The flags of the commands. */
export const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  serve: ['--data', '--host', '--port', '--base-path', '--max-body', '--cors-origin', '--follow'],
  health: ['--url', '--timeout', '--host', '--port', '--base-path', '--metrics-port'],
  migrate: ['--data', '--demo', '--dry-run'],
  check: ['--data', '--verbose'],
  backup: ['--data', '--passphrase-file', '--recipient', '--verbose'],
  restore: ['--data', '--passphrase-file', '--identity-file', '--without-keys', '--verbose'],
  promote: ['--data', '--verbose'],
  export: ['--data', '--format', '--output', '--currency'],
  import: ['--data', '--format', '--dry-run', '--match', '--create-missing', '--currency'],
  undo: ['--data', '--subject', '--since', '--until', '--dry-run', '--force'],
  'issue-token': ['--data', '--subject', '--role', '--expires'],
  users: [],
  tokens: [],
  keys: [],
  'rebuild-pages': ['--data', '--stale'],
  completion: [],
};
