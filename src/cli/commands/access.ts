/** The command line of accounts, tokens and keys: `users`, `tokens`, `keys`. */
import { type Command, Option } from 'commander';
import { ROLES, type Role } from '../../auth/roles.ts';
import { type Common, command, subcommand } from '../command.ts';
import type { Context } from '../../app/context.ts';
import { keysList, keysRotate } from './keys.ts';
import { revokeTokens } from './revoke-tokens.ts';
import {
  usersAdd,
  usersDisable,
  usersEnable,
  usersList,
  usersPasswd,
  usersRemove,
  usersRole,
} from './users.ts';
import {
  parseOverlap,
  parseRole,
  parseSubject,
  parseTokenId,
  parseUserName,
} from '../flags/values.ts';

export function addAccessCommands(program: Command, context: Context): void {
  addUsers(subcommand(program, 'users', 'accounts that get tokens with a password'), context);
  addTokens(subcommand(program, 'tokens', 'end tokens before they expire'), context);
  addKeys(subcommand(program, 'keys', 'the keys that sign tokens'), context);
}

function addUsers(users: Command, context: Context): void {
  const named = (name: string, description: string) =>
    command(users, name, description).argument('<name>', 'whose account', parseUserName);

  named('add', 'make an account; the password comes from a prompt or standard input')
    .addOption(
      new Option('--role <role>', 'what it may').choices(ROLES).default('viewer' satisfies Role),
    )
    .action((name: string, { data, role }: Common & { role: Role }) =>
      usersAdd({ data, name }, role, context),
    );
  command(users, 'list', 'name, role, state and age of every account').action(({ data }: Common) =>
    usersList(data, context),
  );
  named('passwd', 'change the password, and end the tokens').action(
    (name: string, { data }: Common) => usersPasswd({ data, name }, context),
  );
  named('role', 'change the role, and end the tokens')
    .argument('<role>', ROLES.join(', '), parseRole)
    .action((name: string, role: Role, { data }: Common) =>
      usersRole({ data, name }, role, context),
    );
  named('disable', 'refuse the account and all tokens of its name').action(
    (name: string, { data }: Common) => usersDisable({ data, name }, context),
  );
  named('enable', 'let a disabled account in again').action((name: string, { data }: Common) =>
    usersEnable({ data, name }, context),
  );
  named('remove', 'remove the account, and end its tokens').action(
    (name: string, { data }: Common) => usersRemove({ data, name }, context),
  );
}

function addTokens(tokens: Command, context: Context): void {
  command(tokens, 'revoke', 'end one token, or all that a subject has')
    .argument('[jti]', 'the id of a token', parseTokenId)
    .option('--subject <name>', 'all tokens of this subject', parseSubject)
    .action((jti: string | undefined, { data, subject }: Common & { subject?: string }) =>
      revokeTokens({ data, jti: jti ?? null, subject: subject ?? null }, context),
    );
}

function addKeys(keys: Command, context: Context): void {
  command(keys, 'rotate', 'sign with a new key; the old ones verify for a while')
    .option(
      '--overlap <duration>',
      'how long tokens of the old keys live on at most; 0s ends them at once',
      parseOverlap,
      86_400,
    )
    .action(({ data, overlap }: Common & { overlap: number }) =>
      keysRotate({ data, overlap }, context),
    );
  command(keys, 'list', 'id, age and state of every key; never the secret').action(
    ({ data }: Common) => keysList(data, context),
  );
}
