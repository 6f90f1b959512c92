/**
 * Encrypts the secrets in a backup, as files in the age format (age-encryption.org/v1) with ASCII
 * armour, which other programs can open too.
 */
import type { Decrypter } from 'age-encryption';
import { CatalogError, messageOf } from '../../errors.ts';

/** What opens an encrypted file: the passphrase, or the identity of one of the recipients. */
export type EncryptTo =
  | { readonly passphrase: string }
  /** In the format that `age-keygen -y` prints: `age1…`. */
  | { readonly recipients: readonly string[] };

export type DecryptWith =
  | { readonly passphrase: string }
  /** In the format that `age-keygen` prints: `AGE-SECRET-KEY-1…`. */
  | { readonly identities: readonly string[] };

/**
 * The binary logarithm of scrypt's N. A guess at a passphrase takes 128 MiB and a second or two,
 * the minimum that OWASP recommends. The default of age, 18, would take 256 MiB in addition to the
 * memory of the server, on a machine that may be small.
 */
const SCRYPT_LOG_N = 17;

/**
 * @param text that fits into memory several times.
 * @returns an armoured age file, which differs with each call.
 * @throws CatalogError `backup_failed` if a recipient is not valid.
 */
export async function encrypt(text: string, to: EncryptTo): Promise<string> {
  const { armor, Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if ('passphrase' in to) {
    encrypter.setPassphrase(to.passphrase);
    encrypter.setScryptWorkFactor(SCRYPT_LOG_N);
  } else {
    for (const recipient of to.recipients) {
      try {
        encrypter.addRecipient(recipient);
      } catch (cause) {
        throw new CatalogError(
          'backup_failed',
          `${recipient} is not an age recipient; give one as printed by age-keygen -y`,
          { cause },
        );
      }
    }
  }
  return armor.encode(await encrypter.encrypt(text));
}

const DECRYPTION_ADVICE =
  'name the file of the right one with --passphrase-file or --identity-file, or leave the keys out with --without-keys';

/**
 * @param armoured an age file.
 * @throws CatalogError `backup_failed` if `using` is not valid or does not open it, or if it is
 *   incomplete.
 */
export async function decrypt(armoured: string, using: DecryptWith): Promise<string> {
  const { armor, Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  if ('passphrase' in using) decrypter.addPassphrase(using.passphrase);
  else using.identities.forEach((identity, at) => addIdentity(decrypter, identity, at + 1));
  try {
    return await decrypter.decrypt(armor.decode(armoured), 'text');
  } catch (cause) {
    const what = 'passphrase' in using ? 'that passphrase' : 'those identities';
    throw new CatalogError(
      'backup_failed',
      `the keys in the backup cannot be decrypted with ${what}: ${messageOf(cause)}; ${DECRYPTION_ADVICE}`,
      { cause },
    );
  }
}

/** Without the cause: some errors of the library contain the identity, which is secret. */
function addIdentity(decrypter: Decrypter, identity: string, number: number): void {
  try {
    decrypter.addIdentity(identity);
  } catch {
    throw new CatalogError(
      'backup_failed',
      `identity ${number} of those given is not a valid age identity, such as age-keygen writes; ${DECRYPTION_ADVICE}`,
    );
  }
}
