/** `/admin/users/`: accounts, for admins (spec 6.9). */
import type * as v from 'valibot';
import { CatalogError } from '../../errors.ts';
import { entityTag } from '../../resources/entity-tag.ts';
import {
  PAGING_NAMES,
  parseOrder,
  parsePaging,
  parseSortby,
} from '../../resources/query/paging.ts';
import { parseParameters } from '../../resources/query/parameters.ts';
import type { HttpResponse } from '../message.ts';
import { json, noBody } from '../operations/body.ts';
import { operation, type RequestContext } from '../operations/operation.ts';
import { inQuery, type PathParameter } from '../operations/parameters.ts';
import type { Params } from '../operations/params.ts';
import { definePath, type Path } from '../operations/path.ts';
import { callerOf, confirmCaller } from '../rules/authorization.ts';
import { JSON_OFFERS } from '../rules/negotiation.ts';
import { itemLinks } from '../rules/links.ts';
import { requireWritable } from '../rules/preconditions.ts';
import type { Services, UserActor, UserGuard, UserObject } from '../services.ts';
import { ORDER, PAGING } from './kinds/list-parameters.ts';
import { pageOfAll } from './lists.ts';
import { USERS_TAG } from './tags.ts';
import { MANY, newUser, ONE, PROPERTIES, userPatch } from './user-shapes.ts';

const SORTABLE = new Set(Object.keys(PROPERTIES));

const SORTBY = inQuery(
  'sortby',
  'The attribute to sort by.',
  { type: 'string', enum: [...SORTABLE], default: 'name' },
  'UserSortby',
);

const KNOWN = { owner: 'users', names: new Set([...PAGING_NAMES, 'sortby', 'order']) };

const NAME: PathParameter = {
  component: 'userName',
  name: 'name',
  in: 'path',
  description: 'The name of an account.',
  schema: { type: 'string', pattern: '^[^/]+$' },
  example: 'ann',
  // No account is called . or .., which the forwarder could not pass on: URLs resolve them.
  pattern: String.raw`(?!(?:\.|%2[Ee]){1,2}/)(?:[\w.@+-]|%[0-9A-Fa-f]{2})+`,
  memorable: false,
};

const common = { tag: USERS_TAG, label: 'user', offers: JSON_OFFERS } as const;

export const USER_PATHS: readonly Path[] = [
  definePath({
    ...common,
    template: '/admin/users/',
    executor: 'writer',
    name: 'UserList',
    about: 'users',
    resolve: () => undefined,
    operations: {
      GET: operation({
        id: 'listUsers',
        summary: 'List the users',
        description: 'Paged by `page` and `per_page`, or by `limit` and `offset`.',
        role: 'admin',
        parameters: [...PAGING, SORTBY, ORDER],
        body: noBody,
        responses: {
          200: {
            name: 'UserList',
            description: 'A page of users.',
            headers: ['X-Total-Count'],
            content: MANY,
          },
        },
        run: list,
      }),
      POST: operation({
        id: 'createUser',
        summary: 'Create a user',
        description: 'Creates an account that can log in at once.',
        role: 'admin',
        body: json('UserInput', newUser, {
          summary: 'A new account',
          value: { name: 'ann', role: 'editor', password: 'correct horse battery staple' },
        }),
        responses: {
          201: {
            name: 'UserCreated',
            description: 'The new account.',
            headers: ['Location', 'ETag', 'Preference-Applied?'],
            content: ONE,
          },
        },
        failures: [429],
        run: create,
      }),
    },
  }),
  definePath({
    ...common,
    template: '/admin/users/{name}/',
    executor: 'writer',
    parameters: [NAME],
    matchedWhole: true,
    name: 'User',
    about: 'a user',
    resolve: userIn,
    validators: (user) => ({ etag: etagOf(user) }),
    operations: {
      GET: operation({
        id: 'readUser',
        summary: 'Read a user',
        description: 'The response does not contain the password.',
        role: 'admin',
        body: noBody,
        responses: {
          200: { name: 'User', description: 'The account.', headers: ['ETag'], content: ONE },
        },
        run: (context: RequestContext<UserObject>) => respond(context.found, context),
      }),
      PATCH: operation({
        id: 'changeUser',
        summary: 'Change a user',
        description:
          'An attribute that is left out stays as it is. A change revokes all tokens of the account. Refused with 409 if no active account with the role `admin` would be left.',
        role: 'admin',
        body: json('UserPatch', userPatch, {
          summary: 'Another role',
          value: { role: 'viewer' },
        }),
        responses: {
          200: {
            name: 'UserChanged',
            description: 'The account.',
            headers: ['ETag', 'Preference-Applied?'],
            content: ONE,
          },
        },
        failures: [409, 429],
        run: change,
      }),
      DELETE: operation({
        id: 'deleteUser',
        summary: 'Remove a user',
        description:
          'Revokes all tokens of the account. Refused with 409 if no active account with the role `admin` would be left.',
        role: 'admin',
        body: noBody,
        responses: { 204: { name: 'Deleted', description: 'Deleted.' } },
        failures: [409],
        run: remove,
      }),
    },
  }),
  definePath({
    ...common,
    template: '/admin/users/{name}/tokens/',
    parameters: [NAME],
    matchedWhole: true,
    name: 'UserTokens',
    about: 'the tokens of a user',
    resolve: userIn,
    operations: {
      DELETE: operation({
        id: 'deleteUserTokens',
        summary: 'Revoke the tokens of a user',
        description: 'Revokes all tokens of the account. The account can log in again.',
        role: 'admin',
        body: noBody,
        responses: {
          204: {
            name: 'TokensRevoked',
            description: 'The tokens are revoked: requests with one of them are 401 from now on.',
          },
        },
        run: endTokens,
      }),
    },
  }),
];

/** @throws CatalogError `not_found`. */
function userIn(params: Params, { users }: Services): UserObject {
  const text = params.text('name');
  let decoded: string;
  try {
    decoded = decodeURIComponent(text).normalize('NFC');
  } catch {
    throw new CatalogError('not_found', 'the path is not percent-encoded UTF-8');
  }
  const found = users.find(decoded);
  if (found !== null) return found;
  throw new CatalogError('not_found', `there is no user ${decoded}`);
}

function etagOf(user: UserObject): string {
  return entityTag(JSON.stringify(user));
}

function list(context: RequestContext<undefined>): HttpResponse {
  const { request, services } = context;
  const sent = parseParameters(KNOWN, request.search);
  const query = parsePaging(sent);
  const sortby = parseSortby(sent, SORTABLE, 'name') as keyof UserObject;
  const all = sorted(services.users.all(), sortby, parseOrder(sent));
  return pageOfAll(context, query, all, 'admin/users/');
}

/** @param all by ascending name; equal values keep that order in either direction. */
function sorted(
  all: readonly UserObject[],
  sortby: keyof UserObject,
  order: ReturnType<typeof parseOrder>,
): readonly UserObject[] {
  const sign = order === 'asc' ? 1 : -1;
  if (sortby === 'name') return sign === 1 ? all : all.toReversed();
  return all.toSorted(({ [sortby]: a }, { [sortby]: b }) => (a < b ? -sign : a > b ? sign : 0));
}

async function create(
  context: RequestContext<undefined>,
  user: v.InferOutput<typeof newUser>,
): Promise<HttpResponse> {
  const { services, request, mediaType } = context;
  const created = await services.users.create(actorOf(context), user);
  return {
    status: 201,
    headers: {
      'Content-Type': mediaType,
      ETag: etagOf(created),
      Location: `${request.path}${encodeURIComponent(created.name)}/`,
    },
    body: JSON.stringify(created),
  };
}

async function change(
  context: RequestContext<UserObject>,
  patch: v.InferOutput<typeof userPatch>,
): Promise<HttpResponse> {
  const { services, found } = context;
  const guard = guardOf(context);
  return respond(await services.users.change(actorOf(context), found.name, patch, guard), context);
}

async function remove(context: RequestContext<UserObject>): Promise<HttpResponse> {
  const { services, found } = context;
  await services.users.remove(actorOf(context), found.name, guardOf(context));
  return { status: 204, headers: {}, body: null };
}

async function endTokens(context: RequestContext<UserObject>): Promise<HttpResponse> {
  await context.services.users.endTokens(actorOf(context), context.found.name);
  return { status: 204, headers: {}, body: null };
}

/** The conditions of a write are checked again when it is carried out. */
function guardOf({ conditions }: RequestContext<UserObject>): UserGuard {
  return (current) => {
    if (conditions !== null) requireWritable(conditions, etagOf(current));
  };
}

function actorOf(context: RequestContext<unknown>): UserActor {
  return { subject: callerOf(context).subject, confirm: () => confirmCaller(context) };
}

function respond(
  user: UserObject,
  { mediaType, request: { path } }: RequestContext<UserObject>,
): HttpResponse {
  return {
    status: 200,
    headers: { 'Content-Type': mediaType, ETag: etagOf(user), Link: itemLinks(path) },
    body: JSON.stringify(user),
  };
}
