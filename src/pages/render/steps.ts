/**
 * Bounds one rendering. Templates run without a wait, so one that does not end would stop all pages
 * and the end of the server. Steps are counted and not timed, since the pages' thread may get
 * little of a busy processor: the same page always ends the same way.
 */
import type nunjucks from 'nunjucks';

/**
 * Steps of one rendering: statements, entries of ranges, and what filters repeat. It is three times
 * what the built-in templates need for the page of a SKU with the most choices; a million take about
 * half a second.
 */
export const MAX_STEPS = 1_000_000;

/** UTF-16 units of the text that a rendering makes; that of a macro counts again where it is used. */
const MAX_LENGTH = 16 * 1024 * 1024;

let stepsLeft = MAX_STEPS;
let lengthLeft = MAX_LENGTH;

/** Call this when a rendering begins. */
export function beginSteps(): void {
  stepsLeft = MAX_STEPS;
  lengthLeft = MAX_LENGTH;
}

/** @throws Error if the rendering has taken more than {@link MAX_STEPS}. */
export function countSteps(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft >= 0) return;
  throw new Error(
    `gave up after ${MAX_STEPS} statements, entries of ranges and repetitions of filters: shorten the loops`,
  );
}

/** @throws Error if the rendering has made more text than {@link MAX_LENGTH}. */
export function countLength(length: number): void {
  lengthLeft -= length;
  if (lengthLeft >= 0) return;
  throw new Error(`gave up after ${MAX_LENGTH} characters: shorten the page`);
}

/**
 * Replaces the function of nunjucks, which makes arrays of any length, or without end if the step
 * is too small to change the number.
 *
 * @param start of the numbers; the end, if it is the only argument.
 * @param stop the end, which is not one of the numbers.
 * @returns the numbers.
 * @throws Error if the rendering has taken {@link MAX_STEPS}.
 */
export function range(start: number, stop?: number, step?: number): number[] {
  const [first, end, by] = stop === undefined ? [0, start, 1] : [start, stop, step || 1];
  const numbers: number[] = [];
  for (let number = first; by > 0 ? number < end : number > end; number += by) {
    countSteps(1);
    numbers.push(number);
  }
  return numbers;
}

/** How often each filter that takes a number repeats something. */
const REPETITIONS: Readonly<Record<string, (value: unknown, number: number) => number>> = {
  batch: (_list, size) => size,
  center: (_text, width) => width,
  indent: (text, width) => width * String(text).split('\n').length,
  slice: (_list, slices) => slices,
};

/** Makes the filters of nunjucks that repeat something count that as steps. */
export function boundFilters(environment: nunjucks.Environment): void {
  for (const [name, repetitions] of Object.entries(REPETITIONS)) {
    const filter = environment.getFilter(name);
    environment.addFilter(name, (value: unknown, number: unknown, ...rest: unknown[]) => {
      countSteps(Math.max(repetitions(value, Number(number)), 0) || 0);
      return filter(value, number, ...rest) as unknown;
    });
  }
}
