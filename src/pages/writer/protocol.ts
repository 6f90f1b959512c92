/** What the two threads send each other: a call and its result, each with the number of the call. */
import type { PageSettings } from '../shop/settings.ts';
import type { PageMaker } from './page-writer.ts';

export type Method = keyof PageMaker;

/** The first message to a thread. */
export interface Setup {
  readonly dataDirectory: string;
  readonly settings: PageSettings;
}

export type Call = {
  readonly [M in Method]: {
    readonly id: number;
    readonly method: M;
    readonly args: Parameters<PageMaker[M]>;
  };
}[Method];

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };
