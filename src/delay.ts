/** Time that tests can stop: what waits takes it as an argument. */

/** Calls `work` after a time in milliseconds. @returns ends the waiting. */
export type Delay = (work: () => void, milliseconds: number) => () => void;

/** Real time. It does not keep the process alive. */
export const delayed: Delay = (work, milliseconds) => {
  const timer = setTimeout(work, milliseconds).unref();
  return () => clearTimeout(timer);
};
