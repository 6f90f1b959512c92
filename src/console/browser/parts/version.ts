/** Counts what this tab wrote besides the form or list that is shown, so that these read again. */
import { signal } from '@preact/signals';

export const catalogVersion = signal(0);
