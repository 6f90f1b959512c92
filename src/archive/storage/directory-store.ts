/** An archive in a directory, such as a mount of another machine. */
import { pathToFileURL } from 'node:url';
import { RemoteDirectory } from '../../disk/remote-directory.ts';
import type { ObjectStore } from './object-store.ts';

/** @param path of the directory, which has to exist. */
export function directoryStore(path: string): ObjectStore {
  const directory = new RemoteDirectory(path);
  return {
    url: pathToFileURL(path).href,
    put: (name, bytes) => directory.write(name, [bytes]),
    putStream: (name, pieces) => directory.write(name, pieces),
    get: (name) => directory.read(name),
    async *list(folder, after) {
      for (const name of await directory.list(folder)) if (name > after) yield name;
    },
    remove: (name) => directory.remove(name),
  };
}
