/** The English texts that a list does not need. */
import { formsEn } from './forms-en.ts';
import { helpEn } from './help-en.ts';
import { toolsEn } from './tools-en.ts';

export const laterEn = { ...formsEn, ...helpEn, ...toolsEn } as const;
