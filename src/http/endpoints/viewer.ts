/** `GET /docs/`: Swagger UI over our own `/openapi.json`, carried in the executable. */
import bundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'text' };
import style from 'swagger-ui-dist/swagger-ui.css' with { type: 'text' };
import page from '../../../templates/viewer/page.njk' with { type: 'text' };
import start from '../../../templates/viewer/start.js' with { type: 'text' };
import type { Document } from './documents.ts';

/** Only this server's own files run, and nothing is asked of another host. */
const POLICY =
  "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; img-src 'self' data:; script-src 'self'; style-src 'self' 'unsafe-inline'";

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** As bytes: a text would be encoded anew for every answer, and the bundle is large. */
const FILES: ReadonlyMap<string, Document> = new Map([
  ['', { body: Buffer.from(page), type: 'text/html; charset=utf-8', policy: POLICY }],
  ['swagger-ui.css', { body: Buffer.from(style), type: 'text/css; charset=utf-8' }],
  ['swagger-ui-bundle.js', { body: Buffer.from(bundle), type: JAVASCRIPT }],
  ['start.js', { body: Buffer.from(start), type: JAVASCRIPT }],
]);

/** A file of the viewer, its page by the empty name; null where there is none. */
export function viewerFile(name: string): Document | null {
  return FILES.get(name) ?? null;
}
