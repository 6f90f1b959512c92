/**
 * The file and the state of an import that runs. If the disk fails, the failure is reported with all
 * that it says, and thrown without the paths of this machine: clients see it in the report.
 */
import { publicMessageOf } from '../../errors.ts';

interface Options {
  /** Where files and states of imports are kept, by their ids. */
  readonly storage: {
    read(id: number): AsyncIterable<Uint8Array>;
    save(id: number, text: string): Promise<void>;
  };
  readonly onError: (error: unknown) => void;
}

interface FilesOfImport {
  /** Reads the file from its beginning. */
  readonly read: () => AsyncIterable<Uint8Array>;
  /** Keeps the state as JSON text. */
  readonly save: (text: string) => Promise<void>;
}

/** @param id of the import. @returns its files; they throw errors that clients may see. */
export function filesOfImport({ storage, onError }: Options, id: number): FilesOfImport {
  const refusal = (cause: unknown) => {
    onError(cause);
    return new Error(publicMessageOf(cause), { cause });
  };
  return {
    async *read() {
      try {
        yield* storage.read(id);
      } catch (error) {
        throw refusal(error);
      }
    },
    async save(text) {
      try {
        await storage.save(id, text);
      } catch (error) {
        throw refusal(error);
      }
    },
  };
}
