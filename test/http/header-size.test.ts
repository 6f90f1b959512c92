/** No response has more than 8 KiB of headers, however long the target of the request is. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCatalog } from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { closeServices, openService } from '../support/service.ts';

test.after(closeServices);

const bytesOf = ({ headers }: Received) =>
  [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);

test('the response to a target of 8000 bytes has less than 8 KiB of headers', async () => {
  const service = await openService();
  await createCatalog(service);
  const long = (search: string) => search.padEnd(8000, 'x');
  const targets = [
    long('/admin/skus/?keyword='),
    long('/admin/skus/?limit=1&offset=1&keyword='),
    long('/admin/skus/?code='),
    long('/admin/goods/1/skus/?keyword='),
    long('/admin/skus/?utm_source='),
    long('/books/?_='),
    long('/books/?unknown='),
    `/admin/skus/?keyword=${'%C3%A9'.repeat(1300)}`,
    long('/nowhere/'),
    `/books/${'1'.repeat(8000)}/`,
  ];
  for (const target of targets) {
    const received = await send(service, 'GET', target);
    assert.ok(received.status < 500, target);
    assert.ok(bytesOf(received) < 8 * 1024, `${target.slice(0, 40)}: ${bytesOf(received)}`);
  }
});

test.run();
