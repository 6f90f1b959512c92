/** What is sent if a file cannot be read, and the modification time of a page. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import { lastModified, ServedPages } from '../../../../src/pages/refresh/served-pages.ts';
import { turn } from '../../../support/turns.ts';

/** Milliseconds between two events, mostly less than a second. */
const PAUSE = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 3000 }));

test('a file that replaces another one has another Last-Modified, whenever they are sent', () => {
  fc.assert(
    fc.property(fc.nat(5000), PAUSE, PAUSE, PAUSE, (named, sending, replacing, reading) => {
      const sent = named + sending;
      const replaced = sent + replacing;
      const before = lastModified(named, sent);
      const after = lastModified(replaced, replaced + reading);
      assert.ok(before === undefined || after === undefined || before < after);
    }),
  );
});

test('Last-Modified is the second after a file got its name, and missing before that', () => {
  assert.is(lastModified(4000, 4999), undefined);
  assert.is(lastModified(4999, 4999), undefined);
  for (const now of [5000, 5001, 9000]) assert.equal(lastModified(4999, now), new Date(5000));
});

const CLIENT = '192.0.2.1';

/** The pages of a shop with one page; its file and the thread are as given. */
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
        if (thread === 'died') throw new Error('the pages thread died');
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
    const page = await served.read(name, CLIENT);
    return page && Buffer.from(page.body).toString();
  };
  return { calls, read };
}

test('a page is sent from its file', async () => {
  const { calls, read } = servedPages('there');
  assert.is(await read('skus/1.html'), 'file');
  assert.equal(calls, []);
});

for (const file of ['none', 'refused'] as const) {
  test(`a page is rendered and written again if its file is ${file}`, async () => {
    const { calls, read } = servedPages(file);
    assert.is(await read('skus/1.html'), 'rendered');
    assert.equal(calls, ['forget skus/1.html', 'mend skus/1.html']);
  });
}

test('a request after a commit does not get the page that is being rendered for an earlier one', async () => {
  let sequence = 1;
  const begun: PromiseWithResolvers<void>[] = [];
  const served = new ServedPages({
    files: { read: () => Promise.reject(new Error('not read')) },
    batches: {
      async facts(name) {
        const own = JSON.stringify(sequence);
        const step = Promise.withResolvers<void>();
        begun.push(step);
        await step.promise;
        return { name, shared: null, own };
      },
    },
    maker: { forget: async () => {}, render: async ({ own }) => ({ text: `state ${own}` }) },
    prepare: () => undefined,
    state: () => ({ isBehind: true, sequence }),
    has: () => true,
    mend() {},
  });
  const read = async () =>
    Buffer.from((await served.read('skus/1.html', CLIENT))?.body ?? []).toString();
  const before = [read(), read()];
  await turn();
  sequence = 2;
  const after = read();
  await turn();
  for (const { resolve } of begun) resolve();
  assert.equal(await Promise.all([...before, after]), ['state 1', 'state 1', 'state 2']);
  assert.is(begun.length, 2, 'requests in the same state share the work');
});

/** Pages that are behind, whose renderings end when they are told to. */
function pagesBehind() {
  const begun: string[] = [];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const served = new ServedPages({
    files: { read: () => Promise.reject(new Error('not read')) },
    batches: {
      async facts(name) {
        begun.push(name);
        const step = Promise.withResolvers<void>();
        running.set(name, step);
        await step.promise;
        return { name, shared: null, own: '{}' };
      },
    },
    maker: { forget: async () => {}, render: async ({ name }) => ({ text: name }) },
    prepare: () => undefined,
    state: () => ({ isBehind: true, sequence: 1 }),
    has: () => true,
    mend() {},
  });
  const sent: string[] = [];
  const end = async (name: string) => {
    running.get(name)?.resolve();
    await turn();
  };
  return {
    begun,
    sent,
    end,
    /** Ends every rendering, until as many requests as given have their pages. */
    async endAll(count: number) {
      while (sent.length < count) for (const name of begun) await end(name);
    },
    async read(name: string, client: string) {
      const page = await served.read(name, client);
      sent.push(`${Buffer.from(page?.body ?? []).toString()} to ${client}`);
    },
  };
}

const OTHER_CLIENT = '198.51.100.7';

/** Eight pages are rendered at a time; a further one waits. */
const AT_ONCE = 8;

test('a page that could not be rendered is rendered again for the next request', async () => {
  let isDead = true;
  const served = new ServedPages({
    files: { read: async () => null },
    batches: { facts: async (name) => ({ name, shared: null, own: '{}' }) },
    maker: {
      forget: async () => {},
      async render() {
        if (isDead) throw new Error('the pages thread died');
        return { text: 'rendered' };
      },
    },
    prepare: () => undefined,
    state: () => ({ isBehind: true, sequence: 1 }),
    has: () => true,
    mend() {},
  });
  const read = () => served.read('skus/1.html', CLIENT);
  assert.match(await read().then(() => 'a page', messageOf), 'cannot be rendered');
  isDead = false;
  assert.is(Buffer.from((await read())?.body ?? []).toString(), 'rendered');
});

test('a client that asks for many pages delays the pages of another client by one', async () => {
  const pages = pagesBehind();
  const ids = Array.from({ length: AT_ONCE + 5 }, (_, index) => index + 1);
  const reading = ids.map((id) => pages.read(`skus/${id}.html`, CLIENT));
  reading.push(pages.read('skus/100.html', OTHER_CLIENT));
  await turn();
  assert.is(pages.begun.length, AT_ONCE);
  await pages.end('skus/1.html');
  await pages.end('skus/2.html');
  const next = pages.begun.slice(AT_ONCE);
  assert.equal(next, [`skus/${AT_ONCE + 1}.html`, 'skus/100.html']);
  await pages.endAll(reading.length);
});

test('a page that several clients ask for is rendered once, at the first turn of one of them', async () => {
  const pages = pagesBehind();
  const ids = Array.from({ length: AT_ONCE + 3 }, (_, index) => index + 1);
  const last = `skus/${ids.at(-1)}.html`;
  const reading = ids.map((id) => pages.read(`skus/${id}.html`, CLIENT));
  reading.push(pages.read(last, OTHER_CLIENT));
  await turn();
  await pages.end('skus/1.html');
  await pages.end('skus/2.html');
  assert.is(pages.begun.at(-1), last, 'the other client has the second turn');
  await pages.end(last);
  assert.equal(pages.sent.slice(-2).sort(), [`${last} to ${CLIENT}`, `${last} to ${OTHER_CLIENT}`]);
  await pages.endAll(reading.length);
  assert.is(pages.begun.length, ids.length, 'no page is rendered twice');
});

test('a page that the shop does not have is not read', async () => {
  const { calls, read } = servedPages('none');
  assert.is(await read('skus/2.html'), null);
  assert.is(await read('../keys.json'), null);
  assert.equal(calls, []);
});

test('a page is not written again if its file cannot be read for lack of descriptors', async () => {
  const { calls, read } = servedPages('EMFILE');
  assert.is(await read('skus/1.html').catch(messageOf), 'too many open files');
  assert.equal(calls, []);
});

test('a page that shows a row that cannot be read is sent from its file, which may be older', async () => {
  for (const body of [Buffer.from('file'), null]) {
    const mended: string[] = [];
    const served = new ServedPages({
      files: { read: async () => body && { body, named: 0 } },
      batches: { facts: () => Promise.reject(new Error('row 1 of skus is damaged')) },
      maker: { forget: async () => {}, render: async () => 'current' },
      prepare: () => undefined,
      state: () => ({ isBehind: true, sequence: 1 }),
      has: () => true,
      mend: (name) => void mended.push(name),
    });
    const sent = await served.read('skus/1.html', CLIENT).catch(messageOf);
    if (body !== null) assert.is(typeof sent === 'object' && sent?.body, body);
    else assert.equal([sent, mended], ['skus/1.html cannot be rendered', ['skus/1.html']]);
  }
});

test('a page that can neither be read nor rendered fails with the error of the disk', async () => {
  const { calls, read } = servedPages('refused', 'died');
  const failure = await read('skus/1.html').catch(messageOf);
  assert.is(failure, 'EIO: i/o error, read');
  assert.ok(calls.includes('mend skus/1.html'), 'it is queued');
});

test('a page without a file that cannot be rendered fails, and is not said to be missing', async () => {
  const { read } = servedPages('none', 'died');
  assert.is(await read('skus/1.html').catch(messageOf), 'skus/1.html cannot be rendered');
  assert.is(await read('skus/2.html'), null);
});

test.run();
