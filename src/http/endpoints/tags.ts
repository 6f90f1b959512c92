/** The groups of operations in the description. */
import type { Tag } from '../operations/path.ts';

export const SERVICE_TAG: Tag = {
  name: 'service',
  description: 'The index, the documentation and the health of the server.',
};

export const TOKENS_TAG: Tag = {
  name: 'tokens',
  description: 'Issuing, renewing and revoking tokens.',
};

export const USERS_TAG: Tag = {
  name: 'users',
  description: 'Accounts, at `/admin/users/`. Needs a token with the role `admin`.',
};

export const PAGES_TAG: Tag = {
  name: 'pages',
  description: 'The pages of the shop, and their builds.',
};

export const CONSOLE_TAG: Tag = {
  name: 'console',
  description: 'The catalog in a browser.',
};

export const IMPORTS_TAG: Tag = {
  name: 'imports',
  description: 'Imports of files into collections.',
};

export const CHANGES_TAG: Tag = {
  name: 'changes',
  description: 'The changes of the catalog since a change set, and those from now on.',
};

export const HOSTS_TAG: Tag = {
  name: 'hosts',
  description: 'The paths for hosts that follow this one. Needs a token with the role `admin`.',
};
