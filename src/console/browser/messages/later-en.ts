/** The English texts that a list does not need. */
import { helpEn } from './help-en.ts';
import { toolsEn } from './tools-en.ts';

export const laterEn = { ...helpEn, ...toolsEn } as const;
