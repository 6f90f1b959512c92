/** The flags for archives: of `serve`, and of the commands that read one. */
import { type Command, InvalidArgumentError } from 'commander';
import { type ArchiveAddress, parseArchiveAddress } from '../../archive/storage/address.ts';
import { parseLifetime } from './access.ts';
import { type Flag, flag } from './flag.ts';
import { parseFile } from './values.ts';

/** Adds the flags to `serve`. The others need `--archive`. */
export function addArchiveFlags(serve: Command): void {
  serve.optionsGroup('Archive:');
  serve.addOption(
    flag(
      '--archive <url>',
      'keep a copy of every change at s3://bucket/prefix or file:///directory',
      parseAddress,
    ),
  );
  serve.addOption(
    keyFlag('encrypt the archive with this key file, and add accounts and keys to it', 'archive'),
  );
  serve.addOption(
    flag(
      '--archive-keep <duration>',
      'how far back a restore can go, such as 30d (default: no limit)',
      parseKeep,
    ).onlyWith('archive'),
  );
}

/**
 * @param description of what the key is for.
 * @param archive the name of the flag that names the archive, as commander has it.
 */
export function keyFlag(description: string, archive: string): Flag {
  return flag('--archive-key <file>', description, parseFile).onlyWith(archive);
}

/**
 * @param text the URL of an archive; whether there is one shows when it is opened.
 * @throws InvalidArgumentError.
 */
export function parseAddress(text: string): ArchiveAddress {
  const address = parseArchiveAddress(text);
  if (address !== null) return address;
  throw new InvalidArgumentError(
    'Give s3://bucket/prefix, where the bucket has 3 to 63 lower-case letters, digits, dots and hyphens, or file:///directory with an absolute path.',
  );
}

/** @returns milliseconds. */
function parseKeep(text: string): number {
  return parseLifetime(text) * 1000;
}

/**
 * @returns the number of a change set; whether the archive has it shows when it is read.
 * @throws InvalidArgumentError.
 */
export function parseSequence(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give the number of a change set in at most 12 digits.');
}
