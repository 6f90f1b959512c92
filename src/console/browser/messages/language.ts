/** The languages of the console, and which one a user prefers. */
import { browserStorage } from '../start/storage.ts';

export type Language = 'en' | 'de';

/** Each by the name that its speakers give it. */
export const LANGUAGES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

const KEY = 'catalog.language';

/** The language of the last choice, else the first of the browser's that the console has. */
export function preferredLanguage(): Language {
  const chosen = browserStorage.getItem(KEY);
  const wanted = [...(chosen === null ? [] : [chosen]), ...navigator.languages];
  const known = wanted.map((each) => each.slice(0, 2)).find((each) => each in LANGUAGES);
  return (known ?? 'en') as Language;
}

/** Keeps a choice for the next visit. */
export function keepLanguage(chosen: Language): void {
  browserStorage.setItem(KEY, chosen);
}

/** The language with the region that the browser prefers, as far as it is the same language. */
export function localeOf(language: Language): string {
  return navigator.languages.find((each) => each.startsWith(language)) ?? language;
}
