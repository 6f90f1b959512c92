/** `--cors-origin` in a browser, which decides what a page may read. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { launch } from '../../support/chromium.ts';
import { make } from '../../support/catalog.ts';
import { send, tokenFor } from '../../support/client.ts';
import { startServer } from '../../support/server.ts';
import { testInBrowser } from './browser.ts';

/** What a page has read and written, or the error of the browser that prevented it. */
interface Found {
  readonly read?: { status: number; etag: string | null; link: string | null; name: string };
  readonly written?: { status: number; etag: string | null };
  readonly stale?: number;
  readonly created?: { status: number; location: string | null; replayed: string | null };
  readonly refused?: string;
}

/** The script of a page: it reads, changes with If-Match, and creates with an Idempotency-Key. */
const SCRIPT = `async ([url, brand, token]) => {
  const authorization = 'Bearer ' + token;
  const json = { authorization, 'content-type': 'application/json' };
  try {
    const item = url + '/admin/brands/' + brand + '/';
    const first = await fetch(item, { headers: { authorization } });
    const etag = first.headers.get('etag');
    const read = {
      status: first.status,
      etag,
      link: first.headers.get('link'),
      name: (await first.json()).name,
    };
    const patch = () =>
      fetch(item, {
        method: 'PATCH',
        headers: { ...json, 'if-match': etag },
        body: JSON.stringify({ logo: 'seen.png' }),
      });
    const changed = await patch();
    const written = { status: changed.status, etag: changed.headers.get('etag') };
    const stale = (await patch()).status;
    const answer = await fetch(url + '/admin/brands/', {
      method: 'POST',
      headers: { ...json, 'idempotency-key': '"page"' },
      body: '{"name":"Of a page"}',
    });
    const created = {
      status: answer.status,
      location: answer.headers.get('location'),
      replayed: answer.headers.get('idempotent-replayed'),
    };
    return { read, written, stale, created };
  } catch (error) {
    return { refused: error.name };
  }
}`;

/** A site with an empty page. */
async function startSite(): Promise<{ readonly site: Server; readonly origin: string }> {
  const site = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end('<!doctype html><link rel="icon" href="data:,"><title>A site</title>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  return { site, origin: `http://127.0.0.1:${(site.address() as AddressInfo).port}` };
}

testInBrowser(
  'a page of an allowed origin reads and writes through the API, and another page cannot',
  async () => {
    const sites = [await startSite(), await startSite()];
    const [named, other] = sites.map(({ origin }) => origin);
    const server = await startServer({ args: ['--cors-origin', named ?? ''] });
    const { id } = await make(server, '/admin/brands/', { name: 'Seen from afar' });
    const token = await tokenFor('editor');
    const browser = await launch();
    try {
      const visit = async (origin = ''): Promise<Found> => {
        const page = await browser.newPage();
        await page.goto(origin);
        const argument = JSON.stringify([server.url, id, token]);
        return page.evaluate(`(${SCRIPT})(${argument})`);
      };
      // The page that may not write comes first, so that a write of it would be noticed.
      assert.equal(await visit(other), { refused: 'TypeError' });
      const before = await send(server, 'GET', `/admin/brands/${id}/`);
      assert.is(before.json.logo, '');

      const { read, written, stale, created } = await visit(named);
      assert.is(read?.status, 200);
      assert.is(read?.name, 'Seen from afar');
      assert.is(read?.etag, before.headers.get('etag'));
      assert.is(read?.link, before.headers.get('link'));
      assert.is(written?.status, 200);
      assert.is.not(written?.etag, read?.etag);
      assert.is(stale, 412);
      assert.equal(created, { status: 201, location: `/admin/brands/${id + 1}/`, replayed: null });
      assert.is((await visit(named)).created?.replayed, 'true');
      const after = await send(server, 'GET', `/admin/brands/${id}/`);
      assert.is(after.json.logo, 'seen.png');
    } finally {
      await browser.close();
      for (const { site } of sites) site.close();
      await server.stop();
    }
  },
);

test.run();
