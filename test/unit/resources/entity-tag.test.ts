/** spec 5.4: an entity tag contains at least 128 bits of a cryptographic digest. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EntityTagger, entityTag } from '../../../src/resources/entity-tag.ts';

test('a tag is strong and contains the beginning of the SHA-256 digest in base64url', () => {
  // The digests of the empty text and of "abc" (FIPS 180-4).
  assert.is(entityTag(''), '"47DEQpj8HBSa-_TImW-5JC"');
  assert.is(entityTag('abc'), '"ungWv48Bz-pBQUDeXa4iI7"');
});

test('a text and its UTF-8 bytes have the same tag', () => {
  const text = '{"name":"Café 🌕"}';
  assert.is(entityTag(text), entityTag(new TextEncoder().encode(text)));
});

test('a content that comes in parts has the tag of the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (parts) => {
      const tagger = new EntityTagger();
      for (const part of parts) tagger.update(part);
      assert.is(tagger.tag(), entityTag(parts.join('')));
    }),
  );
});

test.run();
