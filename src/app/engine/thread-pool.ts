/**
 * How many blocking calls the runtime makes at a time, each in a thread of its pool: lookups of
 * names, calls to the file system that do not block the event loop, hashes of passwords. By default
 * it has a thread for each processor, and at least two. A lookup that no name server answers blocks
 * its thread for ten seconds or more, and a call to a mount that does not answer for as long as the
 * outage lasts. With two threads, two such calls would stop all pages and logins.
 *
 * The runtime reads the number only from its environment, and only when the process starts. Threads
 * beyond those that are in use are never created.
 */

/**
 * More threads than lookups and calls to other machines can block: a lookup for each webhook, those
 * for the archive and for other hosts, and two calls to the directory of an archive. So others
 * remain for the requests of clients.
 */
export const THREAD_POOL = { UV_THREADPOOL_SIZE: '128' };
