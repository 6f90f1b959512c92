/** The JSON Schemas of values that bodies, parameters and headers have in common. */
import type { JsonSchema } from './content.ts';

export const text: JsonSchema = { type: 'string' };

/** A point in time, as `toISOString` writes it. */
export const instant: JsonSchema = { ...text, format: 'date-time' };

export const count: JsonSchema = { type: 'integer', minimum: 0 };

/** A number from 1 on, as ids are. */
export const positive: JsonSchema = { type: 'integer', minimum: 1 };
