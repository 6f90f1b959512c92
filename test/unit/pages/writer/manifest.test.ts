/** src/pages/writer/manifest.ts: records of files, and when they are not trusted. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { shortDigest } from '../../../../src/pages/writer/digest.ts';
import { Manifest, type PageRecord } from '../../../../src/pages/writer/manifest.ts';

const BOOT = 'boot 1';

function recordOf(text: string, number = 1): PageRecord {
  return {
    inputs: shortDigest('inputs', text),
    content: shortDigest(text),
    stat: { size: text.length, inode: number, changedMs: 1_700_000_000_000.25 + number },
  };
}

/** The same manifest after a restart. */
function reopened(manifest: Manifest, boot: string | null = BOOT): Manifest {
  return Manifest.decode(Buffer.concat([...manifest.encode()]), boot);
}

function assertHas(manifest: Manifest, name: string, { inputs, content, stat }: PageRecord): void {
  const found = manifest.get(name);
  assert.ok(found?.inputs.equals(inputs) && found.content.equals(content), name);
  assert.equal(found?.stat, stat);
}

const NAMES = [
  'style.css',
  'sitemap.xml',
  'index.html',
  'index/2.html',
  'sitemap-skus-1.xml',
  'sitemap-goods-12.xml',
  'skus/1.html',
  'skus/1023.html',
  'skus/1024.html',
  'skus/9007199254740991.html',
  'goods/7.html',
  'goods/7/2.html',
  'goods/8/2.html',
  'categories/7.html',
  'categories/7/300.html',
];

test('every kind of page has its own record, and its name is restored', () => {
  const manifest = new Manifest(BOOT);
  NAMES.forEach((name, index) => manifest.set(name, recordOf(name, index)));
  for (const each of [manifest, reopened(manifest)]) {
    NAMES.forEach((name, index) => assertHas(each, name, recordOf(name, index)));
    assert.equal([...each.names()].toSorted(), NAMES.toSorted());
  }
});

test('a manifest of another format counts as missing', () => {
  const manifest = new Manifest(BOOT);
  manifest.set('skus/1.html', recordOf('page'));
  manifest.mark = 'state';
  const content = Buffer.concat([...manifest.encode()].slice(0, -1)).toString('latin1');
  for (const [format, expected] of [
    [1, 'state'],
    [2, null],
  ] as const) {
    const other = Buffer.from(content.replace('"format":1', `"format":${format}`), 'latin1');
    const digest = createHash('sha256').update(other).digest();
    const decoded = Manifest.decode(Buffer.concat([other, digest]), BOOT);
    assert.is(decoded.mark, expected);
    assert.is([...decoded.names()].length, expected === null ? 0 : 1);
  }
});

test('a name that is not that of a page gets no record', () => {
  const manifest = new Manifest(BOOT);
  for (const name of ['', 'skus/0.html', 'skus/01.html', 'notes.txt', '../x']) {
    manifest.set(name, recordOf(name));
    assert.is(manifest.get(name), null);
    manifest.delete(name);
  }
  assert.equal([...manifest.names()], []);
});

test('the manifest behaves like a map, even after restarts', () => {
  const names = fc.constantFrom(...NAMES);
  const step = fc.oneof(
    fc.record({ set: names, text: fc.string({ minLength: 1 }) }),
    fc.record({ delete: names }),
    fc.constant('restart' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let manifest = new Manifest(BOOT);
      const model = new Map<string, PageRecord>();
      for (const each of steps) {
        if (each === 'restart') manifest = reopened(manifest);
        else if ('set' in each) {
          manifest.set(each.set, recordOf(each.text));
          model.set(each.set, recordOf(each.text));
        } else {
          manifest.delete(each.delete);
          model.delete(each.delete);
        }
      }
      assert.equal([...manifest.names()].toSorted(), [...model.keys()].toSorted());
      for (const [name, record] of model) assertHas(manifest, name, record);
    }),
  );
});

test('the mark survives a restart, and is removed by any change of a record', () => {
  const manifest = new Manifest(BOOT);
  manifest.set('skus/1.html', recordOf('one'));
  manifest.mark = 'state 7';
  assert.is(reopened(manifest).mark, 'state 7');
  const changed = reopened(manifest);
  changed.set('skus/1.html', recordOf('two'));
  assert.is(changed.mark, null);
  const removed = reopened(manifest);
  removed.delete('skus/1.html');
  assert.is(removed.mark, null);
});

for (const [what, now] of [
  ['another boot of the machine', 'boot 2'],
  ['a system that does not say which boot it is', null],
] as const) {
  test(`after ${what} the stat of a record is not trusted`, () => {
    const manifest = new Manifest(BOOT);
    manifest.set('skus/1.html', recordOf('one'));
    const found = reopened(manifest, now).get('skus/1.html');
    assert.ok(found?.content.equals(recordOf('one').content), 'the content is still known');
    assert.is(found?.stat.changedMs, -1);
  });
}

test('the stats in a manifest from a system without a boot id are not trusted', () => {
  const manifest = new Manifest(null);
  manifest.set('skus/1.html', recordOf('one'));
  assert.is(reopened(manifest, null).get('skus/1.html')?.stat.changedMs, -1);
});

test('a manifest that is cut off or has any changed byte counts as missing', () => {
  const manifest = new Manifest(BOOT);
  manifest.set('index.html', recordOf('front'));
  manifest.mark = 'state 7';
  const bytes = Buffer.concat([...manifest.encode()]);
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    for (const damaged of [flipped, bytes.subarray(0, at)]) {
      const read = Manifest.decode(damaged, BOOT);
      assert.is(read.mark, null);
      assert.equal([...read.names()], []);
    }
  }
  assert.equal([...Manifest.decode(null, BOOT).names()], []);
});

test.run();
