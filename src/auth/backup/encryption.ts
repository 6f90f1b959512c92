/**
 * Encryption of what a backup must not show: files in the format of age (age-encryption.org/v1), so
 * that other programs can open them too, in its ASCII armour.
 */
import { CatalogError, messageOf } from '../../errors.ts';

/** Who can open what is encrypted: who knows the passphrase, or has the identity of a recipient. */
export type EncryptTo =
  | { readonly passphrase: string }
  /** As `age-keygen -y` prints them: `age1…`. */
  | { readonly recipients: readonly string[] };

export type DecryptWith =
  | { readonly passphrase: string }
  /** As `age-keygen` prints them: `AGE-SECRET-KEY-1…`. */
  | { readonly identities: readonly string[] };

/**
 * The binary logarithm of scrypt's N: 128 MiB and a second or two for each guess at a passphrase,
 * which is what the OWASP advises at least. The default of age, 18, would take 256 MiB beside the
 * server on a small machine.
 */
const SCRYPT_LOG_N = 17;

/**
 * @param text of any length that fits into memory several times.
 * @returns an armoured age file, which differs with each call.
 * @throws CatalogError `backup_failed` if a recipient is not one.
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
        throw new CatalogError('backup_failed', `${recipient} is not an age recipient`, { cause });
      }
    }
  }
  return armor.encode(await encrypter.encrypt(text));
}

/**
 * @param armoured an age file.
 * @throws CatalogError `backup_failed` if it cannot be opened with that, or is not whole.
 */
export async function decrypt(armoured: string, using: DecryptWith): Promise<string> {
  const { armor, Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  try {
    if ('passphrase' in using) decrypter.addPassphrase(using.passphrase);
    else for (const identity of using.identities) decrypter.addIdentity(identity);
    return await decrypter.decrypt(armor.decode(armoured), 'text');
  } catch (cause) {
    const what = 'passphrase' in using ? 'that passphrase' : 'those identities';
    throw new CatalogError(
      'backup_failed',
      `the keys in the backup cannot be decrypted with ${what}: ${messageOf(cause)}`,
      { cause },
    );
  }
}
