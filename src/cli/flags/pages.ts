/** What pages look like, as flags of every command that makes them. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { PageSettings } from '../../pages/shop/settings.ts';

/** What was said of pages on a command line. */
export type PageFlags = {
  readonly [Setting in keyof PageSettings]?: NonNullable<PageSettings[Setting]>;
};

/** @param unsaid what holds where a flag is left out, for the help. */
export function addPageFlags(command: Command, unsaid: string): Command {
  return command
    .addOption(
      new Option(
        '--public-url <url>',
        'where the world finds the folder of pages; canonical links and the sitemap need it',
      )
        .env('CATALOG_PUBLIC_URL')
        .argParser(parsePublicUrl),
    )
    .addOption(
      new Option('--currency <code>', `currency of all prices (ISO 4217); ${unsaid}: USD`)
        .env('CATALOG_CURRENCY')
        .argParser(parseCurrency),
    )
    .addOption(
      new Option('--locale <tag>', `language of numbers and pages (BCP 47); ${unsaid}: en`)
        .env('CATALOG_LOCALE')
        .argParser(parseLocale),
    )
    .addOption(
      new Option('--shop-name <name>', `name of the shop on its pages; ${unsaid}: Catalog`)
        .env('CATALOG_SHOP_NAME')
        .argParser(parseShopName),
    )
    .addOption(
      new Option('--templates <directory>', 'own templates, each in place of the one of its name')
        .env('CATALOG_TEMPLATES')
        .argParser(parseTemplates),
    );
}

/** The flags that were given, without the rest of a command line. */
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
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && url.search === '' && url.hash === '' && url.username === '';
  if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw new InvalidArgumentError('Give an address such as https://shop.example/pages.');
}

function parseCurrency(text: string): string {
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
  if (text.trim() !== '' && text.length <= 100) return text;
  throw new InvalidArgumentError('Give a name of 1 to 100 characters.');
}

/** Absolute, for `rebuild-pages` may be started in another directory. */
function parseTemplates(text: string): string {
  if (text !== '') return resolve(text);
  throw new InvalidArgumentError('Name a directory.');
}
