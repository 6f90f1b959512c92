/** spec 14.2 and 15.1: the changes as the endpoint sends them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHANGES_PATH } from '../../../src/http/endpoints/changes.ts';
import { Params } from '../../../src/http/operations/params.ts';
import type { Services } from '../../../src/http/services.ts';
import { requestWith } from '../../support/request.ts';

const CALLER = { subject: 'ann', role: 'viewer', id: 'one', issued: 1, expires: 2, loggedIn: null };

test('Catalog-Sequence of a page is the change set up to which it has all, not one that came later', async () => {
  const services = {
    tokens: { verify: () => CALLER },
    changes: { sequence: 9, page: () => Promise.resolve({ text: '[]', last: 5 }) },
  } as unknown as Services;
  const request = requestWith({ path: '/admin/changes/' });
  const { headers } = await CHANGES_PATH.handle(request, new Params([], []), services);
  assert.is(headers['Catalog-Sequence'], '5', 'a client reads on from there');
});

for (const [search, limit] of [
  ['since=1', 100],
  ['since=1&limit=7', 7],
] as const) {
  test(`${search} asks for at most ${limit} change sets`, async () => {
    const limits: number[] = [];
    const page = async (query: { readonly limit: number }) => {
      limits.push(query.limit);
      return { text: '[]', last: 5 };
    };
    const services = {
      tokens: { verify: () => CALLER },
      changes: { sequence: 9, awaited: { expect: async () => {} }, page },
    } as unknown as Services;
    const request = requestWith({ path: '/admin/changes/', search });
    await CHANGES_PATH.handle(request, new Params([], []), services);
    assert.equal(limits, [limit]);
  });
}

for (const accept of ['application/json', 'text/event-stream']) {
  test(`with Accept: ${accept} the change set in since is awaited first: another process may have shown it`, async () => {
    const steps: string[] = [];
    const read = () => {
      steps.push('read');
      return { text: '[]', last: 7 };
    };
    const expect = async (sequence: number, subject: string) => {
      steps.push(`await ${sequence} for ${subject}`);
    };
    const services = {
      tokens: { verify: () => CALLER },
      changes: { sequence: 7, awaited: { expect }, page: async () => read(), events: read },
    } as unknown as Services;
    const request = requestWith({
      path: '/admin/changes/',
      search: 'since=7',
      headers: { accept },
    });
    await CHANGES_PATH.handle(request, new Params([], []), services);
    assert.equal(steps, ['await 7 for ann', 'read']);
  });
}

test.run();
