/**
 * When the engine compiles. The executable starts with higher thresholds (release/executable.ts):
 * most code of a start runs once, and is not worth the time of the compiler's threads.
 */

/** Lets the engine compile as usual from now on: most code that follows runs many times. */
export function endStart(): void {
  Bun.unsafe.setJITPolicy(1);
}
