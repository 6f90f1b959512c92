/** What is sent when a file cannot be read, and the time that tells a page from every earlier one. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import { lastModified, ServedPages } from '../../../../src/pages/refresh/served-pages.ts';

/** Milliseconds in which something else happens: mostly within a second. */
const PAUSE = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 3000 }));

test('a file that was sent at any time has an earlier time than the one that replaces it', () => {
  fc.assert(
    fc.property(fc.nat(5000), PAUSE, PAUSE, PAUSE, (named, sending, replacing, reading) => {
      const sent = named + sending;
      const replaced = sent + replacing;
      const before = lastModified(named, sent).getTime();
      // Once the second is over in which it got its name.
      const now = replaced + 1000 + reading;
      assert.ok(before < lastModified(replaced, now).getTime());
    }),
  );
});

test('a file that stays has one time from the next second on, and none to come', () => {
  fc.assert(
    fc.property(fc.nat(5000), PAUSE, PAUSE, (named, sending, later) => {
      const sent = named + 1000 + sending;
      const time = lastModified(named, sent).getTime();
      assert.is(time, lastModified(named, sent + later).getTime());
      assert.ok(time > named);
      assert.ok(lastModified(named, named + sending).getTime() <= named + sending);
    }),
  );
});

/** Pages of a shop that has one, with the file and the record that a case gives. */
function servedPages(
  file: 'there' | 'none' | 'refused' | 'EMFILE',
  thread: 'lives' | 'died' = 'lives',
) {
  const calls: string[] = [];
  let isRecorded = true;
  const served = new ServedPages({
    files: {
      read: async () => {
        if (file === 'EMFILE')
          throw Object.assign(new Error('too many open files'), { code: file });
        if (file === 'refused') throw new Error('EIO: i/o error, read');
        return file === 'there' ? { body: Buffer.from('file'), named: 0 } : null;
      },
    },
    batches: { facts: async (name) => ({ name, shared: null, own: '{}' }) },
    maker: {
      forget: async (name) => {
        calls.push(`forget ${name}`);
        isRecorded = false;
      },
      render: async () => {
        if (thread === 'died') throw new Error('the pages thread died');
        return isRecorded ? 'current' : { text: 'rendered' };
      },
    },
    prepare: () => undefined,
    state: () => ({ isBehind: false, sequence: 1 }),
    has: (name) => name === 'skus/1.html',
    mend: (name) => void calls.push(`mend ${name}`),
  });
  const read = async (name: string) => {
    const page = await served.read(name);
    return page && Buffer.from(page.body).toString();
  };
  return { calls, read };
}

test('a page is sent as its file is', async () => {
  const { calls, read } = servedPages('there');
  assert.is(await read('skus/1.html'), 'file');
  assert.equal(calls, []);
});

for (const file of ['none', 'refused'] as const) {
  test(`a page is rendered and made again if its file is ${file}`, async () => {
    const { calls, read } = servedPages(file);
    assert.is(await read('skus/1.html'), 'rendered');
    assert.equal(calls, ['forget skus/1.html', 'mend skus/1.html']);
  });
}

test('a page that the shop does not have is not looked for', async () => {
  const { calls, read } = servedPages('none');
  assert.is(await read('skus/2.html'), null);
  assert.is(await read('../keys.json'), null);
  assert.equal(calls, []);
});

test('a page is not made again if the process has no descriptor left to read its file', async () => {
  const { calls, read } = servedPages('EMFILE');
  assert.is(await read('skus/1.html').catch(messageOf), 'too many open files');
  assert.equal(calls, []);
});

test('a page that can neither be read nor rendered fails with the reason of the disk', async () => {
  const { read } = servedPages('refused', 'died');
  const failure = await read('skus/1.html').catch(messageOf);
  assert.is(failure, 'EIO: i/o error, read');
});

test.run();
