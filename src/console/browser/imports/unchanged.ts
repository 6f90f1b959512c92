/** Whether the file of an import is still the one that was chosen. */
import { t } from '../messages/text.ts';

/**
 * A browser does not read a file that was written after it was chosen, and says no more than that
 * the request with it failed.
 *
 * @throws Error if the file has changed, or is gone, since it was chosen.
 */
export async function mustBeUnchanged(file: Blob): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch (error) {
    throw new Error(t('import.fileChanged'), { cause: error });
  }
}
