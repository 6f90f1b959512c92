/** Functions of the C library that the runtime does not offer. */
import { dlopen, type FFIFunction, type Library, type Pointer, read } from 'bun:ffi';

/** Names of the C library: glibc, musl, macOS. */
const LIBRARIES =
  process.platform === 'darwin'
    ? ['libSystem.B.dylib']
    : ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`];

/**
 * @param functions by their names, with the types of their arguments and of what they return.
 * @throws Error if no library has all of them.
 */
export function libc<const Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): Library<Functions>['symbols'] {
  let failure: unknown;
  for (const library of LIBRARIES) {
    try {
      return dlopen(library, functions).symbols;
    } catch (error) {
      failure = error;
    }
  }
  const names = Object.keys(functions).join(', ');
  throw new Error(`${names} is not available in ${LIBRARIES.join(' or ')}`, { cause: failure });
}

const ERRNO_LOCATION = process.platform === 'darwin' ? '__error' : '__errno_location';

/**
 * @returns a function that returns the error number of the last call of {@link libc} that failed on
 *   this thread. Call it before anything else that may call the system.
 * @throws Error as {@link libc}.
 */
export function errnoReader(): () => number {
  const location = libc({ [ERRNO_LOCATION]: { args: [], returns: 'ptr' } })[ERRNO_LOCATION];
  return () => read.i32(location?.() as Pointer, 0);
}

/**
 * Functions that the program can do without. They are looked up at the first call.
 *
 * @param functions as {@link libc} takes them.
 * @returns a getter of the functions, which returns null on systems other than Linux, and if no
 *   library has all of them.
 */
export function libcOfLinux<const Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): () => Library<Functions>['symbols'] | null {
  let loaded: Library<Functions>['symbols'] | null | undefined;
  return () => {
    if (loaded === undefined) {
      try {
        loaded = process.platform === 'linux' ? libc(functions) : null;
      } catch {
        // An older library; each caller documents what happens then.
        loaded = null;
      }
    }
    return loaded;
  };
}
