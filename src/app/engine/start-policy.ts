/**
 * When the engine compiles. The executable starts with higher thresholds (release/executable.ts):
 * most of what runs at a start runs once, and is not worth what the compiler's threads take from it.
 */

/** Lets the engine compile as usual from now on: what comes is called again and again. */
export function endStart(): void {
  Bun.unsafe.setJITPolicy(1);
}
