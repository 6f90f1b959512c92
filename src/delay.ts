/** Timers that tests can replace: code that waits takes one as an argument. */

/** Calls `work` after a time in milliseconds. @returns a function that cancels the call. */
export type Delay = (work: () => void, milliseconds: number) => () => void;

/** Real time. It does not keep the process alive. */
export const delayed: Delay = (work, milliseconds) => {
  const timer = setTimeout(work, milliseconds).unref();
  return () => clearTimeout(timer);
};
