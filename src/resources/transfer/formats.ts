/** The formats of files (spec 12.1). */

export const FORMATS = ['csv', 'ndjson', 'json'] as const;

export type Format = (typeof FORMATS)[number];

/** Media types, without parameters. */
export const FORMAT_TYPES: Readonly<Record<Format, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

/** The format that the extension of a file's name stands for; CSV if it stands for none. */
export function formatOf(file: string): Format {
  if (/\.json$/i.test(file)) return 'json';
  return /\.(?:ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'csv';
}

/** Whether a text names a format. */
export function isFormat(text: string): text is Format {
  return FORMATS.some((format) => format === text);
}
