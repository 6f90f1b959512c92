/** The files that the page of the documentation loads. */
import bundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'text' };
import style from 'swagger-ui-dist/swagger-ui.css' with { type: 'text' };
import pageStyle from '../../../../templates/style.css' with { type: 'text' };
import start from '../../../../templates/viewer/start.js' with { type: 'text' };
import type { ServedDocument } from '../../operations/document.ts';

const JAVASCRIPT = 'text/javascript; charset=utf-8';

// Kept as bytes: a string would be encoded again for every response, and the bundle is large.

export const VIEWER_FILES = {
  'pages.css': { body: Buffer.from(pageStyle), type: 'text/css; charset=utf-8' },
  'swagger-ui.css': { body: Buffer.from(style), type: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': { body: Buffer.from(bundle), type: JAVASCRIPT },
  'start.js': { body: Buffer.from(start), type: JAVASCRIPT },
} as const satisfies Readonly<Record<string, ServedDocument>>;
