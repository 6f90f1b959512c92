/** Files of pages, and damage to them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folderOf } from './shop.ts';

/** The path of a page in a data directory. */
export function pagePath(data: string, name: string): string {
  return join(data, 'pages', name);
}

/** Leaves the first characters of a page; an empty file if it is missing. */
export function cutPage(data: string, name: string, length: number): void {
  writeFileSync(pagePath(data, name), (folderOf(data).get(name) ?? '').slice(0, length));
}

/** Writes a file that is not a page of the catalog. */
export function plantPage(data: string, name: string): void {
  const path = pagePath(data, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '<!doctype html>');
}
