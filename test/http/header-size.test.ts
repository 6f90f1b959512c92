/** No response has more than 8 KiB of headers, however long the target of the request is. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog } from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { closeServices, openService } from '../support/service.ts';

test.after(closeServices);

const bytesOf = ({ headers }: Received) =>
  [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);

/** A target of as many bytes as a server accepts. */
const longest = (target: string, letter = 'x') =>
  target + letter.repeat((8192 - target.length) / letter.length);

test('the response to the longest target has less than 8 KiB of headers', async () => {
  const service = await openService();
  await createCatalog(service);
  const targets = [
    '/admin/skus/?keyword=',
    '/admin/skus/?limit=1&offset=1&keyword=',
    '/admin/skus/?page=2&per_page=1&keyword=',
    '/admin/skus/?code=',
    '/admin/goods/1/skus/?keyword=',
    '/admin/skus/?utm_source=',
    '/books/?_=',
    '/books/?unknown=',
    '/docs?',
    '/pages?',
    '/books?',
    '/nowhere/',
  ].flatMap((target) => ['x', '%3C', '%F0%9F%98%80'].map((letter) => longest(target, letter)));
  for (const target of [...targets, longest('/books/', '1')]) {
    for (const accept of ['application/json', 'text/html, */*']) {
      const received = await send(service, 'GET', target, { headers: { accept } });
      assert.ok(received.status < 500, target);
      const bytes = bytesOf(received);
      assert.ok(bytes < 8 * 1024, `${target.slice(0, 40)} as ${accept}: ${bytes}`);
    }
  }
});

test.run();
