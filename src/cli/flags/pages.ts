/** The flags for the look of the pages, of every command that makes pages. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, type Option } from 'commander';
import {
  DEFAULT_DELAY_MS,
  DEFAULT_SETTINGS,
  type PageSettings,
} from '../../pages/shop/settings.ts';
import { flag } from './flag.ts';
import { timeFlag } from './limits.ts';

/** The page settings that a command line names. */
export type PageFlags = {
  readonly [Setting in keyof PageSettings]?: NonNullable<PageSettings[Setting]>;
};

/** For `serve`: a setting that is left out has its default. */
export function addPageFlags(serve: Command): void {
  serve.optionsGroup('Pages:');
  for (const option of pageFlags((value) => ({ value }))) serve.addOption(option);
  serve.addOption(
    timeFlag(
      '--page-delay',
      'longest time until pages are begun while writes keep coming',
      DEFAULT_DELAY_MS,
    ),
  );
}

/** For other commands: a setting that is left out is that of the last server. */
export function addPageOverrides(command: Command): void {
  command.optionsGroup('Pages (default: as the last server made them):');
  for (const option of pageFlags(() => undefined)) command.addOption(option);
}

function pageFlags(fallback: (value: string) => { readonly value: string } | undefined): Option[] {
  const { currency, locale, shopName } = DEFAULT_SETTINGS;
  return [
    flag(
      '--public-url <url>',
      'public address of the pages, for canonical links and the sitemap',
      parsePublicUrl,
    ),
    flag(
      '--currency <code>',
      'currency of all prices (ISO 4217)',
      parseCurrency,
      fallback(currency),
    ),
    flag(
      '--locale <tag>',
      'language of the pages and format of their prices (BCP 47)',
      parseLocale,
      fallback(locale),
    ),
    flag('--shop-name <name>', 'name of the shop', parseShopName, fallback(shopName)),
    flag(
      '--templates <directory>',
      'templates that replace the built-in ones of the same names',
      parseTemplates,
    ),
  ];
}

/** The page settings among all options of a command. */
export function pageFlagsOf(options: PageFlags): PageFlags {
  const { publicUrl, currency, locale, shopName, templates } = options;
  return {
    ...(publicUrl !== undefined && { publicUrl }),
    ...(currency !== undefined && { currency }),
    ...(locale !== undefined && { locale }),
    ...(shopName !== undefined && { shopName }),
    ...(templates !== undefined && { templates }),
  };
}

function parsePublicUrl(text: string): string {
  const url = URL.parse(text);
  // In `https://shop.example/?` the query is empty, but a path could not be added to it.
  const isPlain = url !== null && !/[?#]/.test(url.href) && url.username + url.password === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return withoutSlashes(url.href);
  throw new InvalidArgumentError('Give an address such as https://shop.example/pages.');
}

function withoutSlashes(url: string): string {
  let end = url.length;
  while (url.endsWith('/', end)) end -= 1;
  return url.slice(0, end);
}

/** @returns a code of ISO 4217 that this runtime can format. @throws InvalidArgumentError. */
export function parseCurrency(text: string): string {
  if (Intl.supportedValuesOf('currency').includes(text)) return text;
  throw new InvalidArgumentError('Give a code of ISO 4217 in capitals, such as EUR.');
}

function parseLocale(text: string): string {
  try {
    return Intl.getCanonicalLocales(text)[0] ?? '';
  } catch {
    throw new InvalidArgumentError('Give a language tag such as en, en-GB or de.');
  }
}

function parseShopName(text: string): string {
  if (text.trim() !== '' && text.length <= 100 && !/\p{Cc}/u.test(text)) return text;
  throw new InvalidArgumentError(
    'Give a name of 1 to 100 characters, without line ends and other control characters.',
  );
}

/** Made absolute, since `rebuild-pages` may be started in another directory. */
function parseTemplates(text: string): string {
  if (text !== '') return resolve(text);
  throw new InvalidArgumentError('Name a directory.');
}
