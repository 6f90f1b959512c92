/** The groups of operations in the description. */
import type { Tag } from '../operations/path.ts';

export const SERVICE_TAG: Tag = { name: 'service', description: 'What the server says of itself.' };

export const TOKENS_TAG: Tag = {
  name: 'tokens',
  description: 'The way in: tokens for accounts, and their end.',
};

export const USERS_TAG: Tag = {
  name: 'users',
  description: 'Accounts, at `/admin/users/`. For holders of a token with the role `admin`.',
};

export const PAGES_TAG: Tag = {
  name: 'pages',
  description: 'What the shop shows of its SKUs.',
};

export const CONSOLE_TAG: Tag = {
  name: 'console',
  description: 'The catalog in a browser.',
};

export const IMPORTS_TAG: Tag = {
  name: 'imports',
  description: 'Files that are brought into collections.',
};

export const CHANGES_TAG: Tag = {
  name: 'changes',
  description: 'What has changed in the catalog since a change set, and what changes from now on.',
};

export const HOSTS_TAG: Tag = {
  name: 'hosts',
  description:
    'What hosts that follow this one ask for. For holders of a token with the role `admin`.',
};
