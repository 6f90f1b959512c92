/** The content of an archive's objects, if it is not encrypted. */
import { isEncrypted } from '../encryption/encrypted-stream.ts';
import { CatalogError } from '../errors.ts';

/**
 * Passes on the pieces of an object that is expected not to be encrypted.
 *
 * @param name of the object, for messages.
 * @throws CatalogError `encryption` if it is.
 */
export async function* plain(
  name: string,
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of stream) {
    if (isFirst && isEncrypted(piece)) {
      throw new CatalogError('encryption', `${name} is encrypted; name its key with --archive-key`);
    }
    isFirst = false;
    yield piece;
  }
}
