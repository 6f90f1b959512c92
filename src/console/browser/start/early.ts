/**
 * The first script of the page: a small file of its own, which runs while the console is still on
 * its way. It asks for what the first screen shows, and for the files that only this screen needs.
 */
import { collectionNamed } from '../api/collections.ts';
import { listPath, SUMMARY_PATH } from '../api/paths.ts';
import { BASE_PATH, CONSOLE_PATH } from '../base.ts';
import { pageParameters, parseListQuery } from '../lists/list-query.ts';
import { localeOf, preferredLanguage } from '../messages/language.ts';
import { SESSION_KEY, sendEarly } from './early-requests.ts';
import { tabStorage } from './storage.ts';

/** Files by what needs them; the bundler knows their names. */
declare const EARLY_FILES: {
  readonly german: readonly string[];
  readonly screens: readonly string[];
};

const { pathname, search } = location;
const [, name = '', below = ''] = pathname.slice(CONSOLE_PATH.length).split('/');
const collection = below === '' ? collectionNamed(name) : undefined;

/** The addresses of what the first screen reads. */
function firstReads(): string[] {
  const paths: string[] = [SUMMARY_PATH];
  if (collection !== undefined) {
    const query = parseListQuery(collection, new URLSearchParams(search));
    paths.unshift(listPath(collection.name, pageParameters(query)));
  }
  return paths.map((path) => `${BASE_PATH}${path}`);
}

function preload(files: readonly string[]): void {
  for (const file of files) {
    const link = document.createElement('link');
    link.rel = 'modulepreload';
    link.href = `${CONSOLE_PATH}/${file}`;
    document.head.append(link);
  }
}

/** The first number costs the browser the data of the language: a fifth of the console's start. */
function prepareNumbers(locale: string): void {
  new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' }).format(1);
}

const token = tabStorage.getItem(SESSION_KEY);
const language = preferredLanguage();
if (token !== null) sendEarly(token, firstReads());
if (language === 'de') preload(EARLY_FILES.german);
if (token !== null && collection === undefined) preload(EARLY_FILES.screens);
prepareNumbers(localeOf(language));
