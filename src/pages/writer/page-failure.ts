/** Why a page could not be made, in a form that can be sent from one thread to another. */
import { messageOf, systemErrorCode } from '../../errors.ts';

export interface PageFailure {
  readonly message: string;
  /** The system's name for it, such as ENOSPC; null if the page could not be rendered. */
  readonly systemCode: string | null;
  /** Whether the message may be shown to clients. */
  readonly isPublic?: boolean;
}

/** @param error whatever was thrown. Its message may contain paths, so clients do not see it. */
export function failureOf(error: unknown): PageFailure {
  return { message: messageOf(error), systemCode: systemErrorCode(error) };
}

/** @param name of the page, such as `skus/7`. @returns the failure as an operator reads it. */
export function errorOf(name: string, { message }: PageFailure): Error {
  return new Error(`${name}: ${message}`);
}
