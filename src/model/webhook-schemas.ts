/** The values of webhooks (spec 14.5): where changes are sent, and which. */
import * as v from 'valibot';
import { RESOURCES } from './kind.ts';
import { shortText } from './schemas.ts';

/** Characters of an address, at most. */
const MAX_URL = 2048;

/** The characters of a URI (RFC 3986), in which brackets may only enclose an IPv6 address. */
const URI_CHARACTERS = /^https?:\/\/(?:\[[\da-f:.]+\])?(?:[\w.~:/?#@!$&'()*+,;=-]|%[\da-f]{2})*$/i;

/** The address of a receiver: absolute, http or https, without credentials. */
export const webhookUrl = v.pipe(
  shortText(MAX_URL),
  v.check(isHttpUrl, 'must be an absolute URL that begins with https:// or http://'),
  v.check(
    (text) => !hasCredentials(text),
    'must not contain a user name or a password; the signature identifies the sender',
  ),
  v.check((text) => !text.includes('#'), 'must not contain a fragment'),
  v.check(
    (text) => !isHttpUrl(text) || URI_CHARACTERS.test(text),
    'must be percent-encoded, with a host in ASCII',
  ),
  v.metadata({ format: 'uri', pattern: '^https?://[^/?#@]+([/?][^#]*)?$' }),
);

function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s/?#\\]/.test(text) || /\s/.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
}

function hasCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== '' || url.password !== '');
}

/** Names of resources; rows keep their JSON text. */
export const resourceNames = v.pipe(
  v.array(
    v.picklist(RESOURCES, `must be one of ${RESOURCES.join(', ')}`),
    'must be an array of names of resources',
  ),
  v.check((names) => new Set(names).size === names.length, 'must not name a resource twice'),
  v.metadata({ uniqueItems: true }),
  v.transform((names) => JSON.stringify(names)),
);
