/** The commands for tokens and accounts: `issue-token`, `users`, `tokens`, `keys`. */
import type { Command } from 'commander';
import type { Context } from '../../app/context.ts';
import { ROLES, type Role } from '../../auth/roles.ts';
import { type Common, command, subcommand, verboseFlag } from '../command.ts';
import { issueTokenCommand } from '../commands/access/issue-token.ts';
import { keysGenerate, keysList, keysRotate } from '../commands/access/keys.ts';
import { revokeTokens } from '../commands/access/revoke-tokens.ts';
import {
  usersAdd,
  usersDisable,
  usersEnable,
  usersList,
  usersPasswd,
  usersRemove,
  usersRole,
} from '../commands/access/users.ts';
import {
  parseLifetime,
  parseOverlap,
  parseRole,
  parseSubject,
  parseTokenId,
  parseUserName,
} from '../flags/access.ts';
import { choice, flag } from '../flags/flag.ts';
import { parseFile } from '../flags/values.ts';

/** Adds the commands. A running server notices what they change, without a restart. */
export function declareAccessCommands(program: Command, context: Context): void {
  declareIssueToken(program, context);
  declareUsers(
    subcommand(program, 'users', 'manage accounts that log in with a password'),
    context,
  );
  declareTokens(subcommand(program, 'tokens', 'revoke tokens before they expire'), context);
  declareKeys(
    subcommand(program, 'keys', 'manage the keys that sign tokens or encrypt archives'),
    context,
  );
}

function declareIssueToken(program: Command, context: Context): void {
  command(program, 'issue-token', 'print a token for the admin API')
    .addOption(
      flag('--subject <name>', 'person or program that the token is for', parseSubject).needed(),
    )
    .addOption(choice('--role <role>', 'role of the token', ROLES, 'admin'))
    .addOption(
      flag('--expires <duration>', 'lifetime, such as 30m, 8h or 7d', parseLifetime, {
        value: 8 * 3600,
        shown: '8h',
      }),
    )
    .action((options: Common & { subject: string; role: Role; expires: number }) =>
      issueTokenCommand(options, context),
    );
}

function declareUsers(users: Command, context: Context): void {
  const named = (name: string, description: string) =>
    command(users, name, description).argument('<name>', 'name of the account', parseUserName);

  named('add', 'create an account; asks for the password, or reads it from standard input')
    .addOption(choice('--role <role>', 'role of the account', ROLES, 'viewer'))
    .action((name: string, { data, role }: Common & { role: Role }) =>
      usersAdd({ data, name }, role, context),
    );
  command(users, 'list', 'print name, role, state and creation time of every account').action(
    ({ data }: Common) => usersList(data, context),
  );
  named('passwd', 'change the password of an account, and revoke its tokens').action(
    (name: string, { data }: Common) => usersPasswd({ data, name }, context),
  );
  named('role', 'change the role of an account, and revoke its tokens')
    .argument('<role>', ROLES.join(', '), parseRole)
    .action((name: string, role: Role, { data }: Common) =>
      usersRole({ data, name }, role, context),
    );
  named('disable', 'disable an account, and revoke its tokens').action(
    (name: string, { data }: Common) => usersDisable({ data, name }, context),
  );
  named('enable', 'enable a disabled account again').action((name: string, { data }: Common) =>
    usersEnable({ data, name }, context),
  );
  named('remove', 'remove an account, and revoke its tokens').action(
    (name: string, { data }: Common) => usersRemove({ data, name }, context),
  );
}

function declareTokens(tokens: Command, context: Context): void {
  command(tokens, 'revoke', 'revoke one token, or all tokens of a subject')
    .argument('[jti]', 'id of the token (its jti claim)', parseTokenId)
    .addOption(
      flag(
        '--subject <name>',
        'revoke all tokens of this subject',
        parseSubject,
      ).insteadOfArguments(),
    )
    .action((jti: string | undefined, { data, subject }: Common & { subject?: string }) =>
      revokeTokens({ data, jti: jti ?? null, subject: subject ?? null }, context),
    );
}

function declareKeys(keys: Command, context: Context): void {
  command(keys, 'rotate', 'sign with a new key; tokens of the old keys stay valid for a while')
    .addOption(
      flag(
        '--overlap <duration>',
        'how long tokens of the old keys stay valid; 0s ends them at once',
        parseOverlap,
        { value: 24 * 3600, shown: '1d' },
      ),
    )
    .action(({ data, overlap }: Common & { overlap: number }) =>
      keysRotate({ data, overlap }, context),
    );
  subcommand(keys, 'generate', 'create a key file for encrypting an archive')
    .argument('<file>', 'the new file', parseFile)
    .addOption(verboseFlag())
    .action((file: string) => keysGenerate(file, context));
  command(keys, 'list', 'print id, state and creation time of every key, but no secrets').action(
    ({ data }: Common) => keysList(data, context),
  );
}
