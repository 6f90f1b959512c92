/** The body of a failure that the request caused (spec 3.1). */
import type { Shape } from './content.ts';

export const ERROR: Shape = {
  name: 'Error',
  schema: () => ({
    type: 'object',
    description: 'A failure that the request caused.',
    properties: { error: { type: 'string', description: 'One human-readable sentence.' } },
    required: ['error'],
    examples: [{ error: 'there is no SKU 36' }],
  }),
};
