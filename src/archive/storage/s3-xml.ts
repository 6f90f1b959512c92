/** The XML of S3's responses, as far as an archive reads it. The documents come from elsewhere. */

/** A page of a list of objects. */
export interface ListPage {
  readonly keys: readonly string[];
  readonly isTruncated: boolean;
  /** With which the next page is requested; null if the response has none. */
  readonly token: string | null;
}

/** An error of S3. */
export interface S3Error {
  readonly code: string;
  readonly message: string;
  /** The region of the bucket, if the request was sent to another one; "" if it is not said. */
  readonly region: string;
}

/** Characters of a text of an error that are kept. */
const MAX_TEXT = 300;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** @throws Error if it is not a list, or not a whole one. */
export function parseList(xml: string): ListPage {
  const [list] = elements(xml, 'ListBucketResult');
  if (list === undefined) throw new Error('the response is not a list of objects');
  return {
    keys: [...elements(list, 'Key')].map(textOf),
    isTruncated: first(list, 'IsTruncated') === 'true',
    token: first(list, 'NextContinuationToken'),
  };
}

/** @returns the error in a document; null if there is none. */
export function parseError(xml: string): S3Error | null {
  const error = first(xml, 'Error', false);
  const code = error === null ? null : first(error, 'Code');
  if (error === null || code === null) return null;
  const of = (name: string) => printable(first(error, name) ?? '');
  return { code: printable(code), message: of('Message'), region: of('Region') };
}

/** @returns why a request failed. Ceph gives no messages, only codes. */
export function reasonOf({ code, message }: S3Error): string {
  return message === '' ? code : `${message} (${code})`;
}

/** @returns the name of a new upload in parts. @throws Error if the response has none. */
export function parseUpload(xml: string): string {
  const id = first(xml, 'UploadId') ?? '';
  if (id === '') throw new Error('the response does not begin an upload in parts');
  return id;
}

/** Whether an upload in parts is complete: a failure has the status 200 as well. */
export function isCompleted(xml: string): boolean {
  return first(xml, 'CompleteMultipartUploadResult', false) !== null;
}

/** @returns the text on one line, shortened, for a message. */
export function printable(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** @returns what the first element of a name contains; null if there is none. */
function first(xml: string, name: string, isText = true): string | null {
  const [found] = elements(xml, name);
  if (found === undefined) return null;
  return isText ? textOf(found) : found;
}

/**
 * The contents of the elements of a name, none of which is within another one. Every character is
 * read once, so that no document takes long.
 *
 * @throws Error if an element does not end.
 */
function* elements(xml: string, name: string): Generator<string> {
  for (let at = 0; ; ) {
    const start = xml.indexOf(`<${name}`, at);
    if (start < 0) return;
    const after = start + name.length + 1;
    at = after;
    // Another name that begins alike.
    if (!/[\s>]/.test(xml.charAt(after))) continue;
    const from = xml.indexOf('>', after) + 1;
    const end = from === 0 ? -1 : xml.indexOf(`</${name}>`, from);
    if (end < 0) throw new Error('the response is cut off');
    yield xml.slice(from, end);
    at = end;
  }
}

/** The text of an element, with its references replaced. */
function textOf(xml: string): string {
  return xml.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi,
    (reference, hex, decimal, name) => {
      if (name !== undefined) return ENTITIES[name] ?? reference;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
    },
  );
}
