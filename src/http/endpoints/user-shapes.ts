/** Accounts as requests send them and responses show them (spec 6.9). */
import * as v from 'valibot';
import { ACCOUNT_NAME, accountName } from '../../auth/accounts.ts';
import { MIN_CODE_POINTS, passwordFault } from '../../auth/passwords.ts';
import { ROLES } from '../../auth/roles.ts';
import { flag, longText } from '../../model/schemas.ts';
import { arrayOf, defineShape, negotiatedJson } from '../operations/content.ts';
import type { UserObject } from '../services.ts';

const name = v.pipe(
  longText,
  v.check((text) => accountName(text) !== null, `must be ${ACCOUNT_NAME}`),
  // Some languages in which clients read patterns have no `\p{L}`.
  v.metadata({
    maxLength: 64,
    minLength: 1,
    pattern: String.raw`^([\w.@+]|[^\x00-\x7f])([\w.@+-]|[^\x00-\x7f])*$`,
  }),
  v.description(
    'Letters, digits and any of . _ @ + -, other than . and .., not beginning with -. Stored in Unicode normalization form NFC.',
  ),
  // The generator of the description ignores what comes after a transformation.
  v.transform((text) => text.normalize('NFC')),
);

const role = v.pipe(
  v.picklist(ROLES, `must be one of ${ROLES.join(', ')}`),
  v.description('What the account may do.'),
);

const disabled = v.pipe(flag, v.description('If true, the account cannot log in.'));

const password = v.pipe(
  longText,
  v.rawCheck(({ dataset, addIssue }) => {
    const fault = dataset.typed ? passwordFault(dataset.value) : null;
    if (fault !== null) addIssue({ message: fault });
  }),
  v.metadata({ minLength: MIN_CODE_POINTS, writeOnly: true }),
  v.description('At least 8 characters, and at most 1024 bytes in UTF-8.'),
);

export const newUser = v.pipe(
  v.object({ name, role, password, disabled: v.optional(disabled, false) }, 'is required'),
  v.description('A new account.'),
);

export const userPatch = v.pipe(
  v.object({
    role: v.exactOptional(role),
    disabled: v.exactOptional(disabled),
    password: v.exactOptional(password),
  }),
  v.description('The attributes of an account to change.'),
);

const EXAMPLE: UserObject = {
  name: 'ann',
  role: 'editor',
  disabled: false,
  created: '2026-11-21T12:00:00Z',
};

export const PROPERTIES = {
  name: { type: 'string' },
  role: { type: 'string', enum: ROLES },
  disabled: {
    type: 'boolean',
    description: 'If true, the account cannot log in and has no valid token.',
  },
  created: { type: 'string', format: 'date-time', description: 'UTC.' },
};

const USER = defineShape({
  name: 'User',
  description: 'An account.',
  properties: PROPERTIES,
  example: EXAMPLE,
});

export const ONE = negotiatedJson(USER, {
  User: () => ({ summary: 'An account', value: EXAMPLE }),
});

export const MANY = arrayOf(ONE, { UserList: () => ({ summary: 'Accounts', value: [EXAMPLE] }) });
