/** `/admin/<collection>/export/`: a whole collection as a file (spec 12.2). */
import type { Kind } from '../../../model/kind.ts';
import { malformed } from '../../../resources/query/parameters.ts';
import { parseUnpagedQuery } from '../../../resources/query.ts';
import { MAX_OF_SUBJECT, MAX_OPEN } from '../../../resources/transfer/downloads.ts';
import {
  type Format,
  FORMAT_TYPES,
  FORMATS,
  isFormat,
} from '../../../resources/transfer/formats.ts';
import { header, type HttpResponse } from '../../message.ts';
import { noBody } from '../../operations/body.ts';
import type { Content } from '../../operations/content.ts';
import { operation, type RequestContext } from '../../operations/operation.ts';
import { inQuery } from '../../operations/parameters.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { subjectOf } from '../../rules/authorization.ts';
import { negotiate, type Offer } from '../../rules/negotiation.ts';
import { selectionParameters } from './list-parameters.ts';
import { componentName } from './names.ts';
import { type Place, roleFor, tagOf, templateOf } from './place.ts';
import { manyOf } from './shapes.ts';

const FORMAT = inQuery(
  'format',
  'The format of the file: CSV, one JSON object per line, or a JSON array.',
  { type: 'string', enum: FORMATS, default: 'csv' },
  'exportFormat',
);

/** @param place of a kind that has bulk operations, at its own path. */
export function exportPath(place: Place): Path {
  const { kind } = place;
  const name = componentName(kind);
  return definePath<Kind>({
    template: `${templateOf(place)}export/`,
    tag: tagOf(place),
    name: `${name}Export`,
    about: `an export of ${kind.plural}`,
    resolve: () => kind,
    operations: {
      GET: operation({
        id: `export${name}List`,
        summary: `Export ${kind.plural}`,
        description: `Everything that a list with the same filters would show on all of its pages, as one file that shows the catalog at one moment. An import reads the same CSV columns. At most ${MAX_OPEN} exports are sent at a time, ${MAX_OF_SUBJECT} of them for one subject; one more is 503.`,
        role: roleFor(place, 'GET'),
        parameters: [FORMAT, ...selectionParameters(kind)],
        body: noBody,
        responses: {
          200: {
            name: `${name}Export`,
            description: `The file with ${kind.plural}.`,
            headers: ['Content-Disposition'],
            content: arrayOfAll(kind),
            alternative: TEXT,
            head: { name: 'ExportHead', description: 'The headers of the file.' },
          },
        },
        failures: [406],
        run: exportAll,
      }),
    },
  });
}

/** The file as JSON. */
function arrayOfAll(kind: Kind): Content {
  return { ...manyOf(kind), types: [FORMAT_TYPES.json] };
}

const TEXT: Content = {
  types: [FORMAT_TYPES.csv, FORMAT_TYPES.ndjson],
  schema: { type: 'string' },
  shapes: [],
  examples: {
    BrandFile: () => ({
      summary: 'Brands as CSV',
      value: 'id,name,logo,first_letter\r\n1,Auralune,,A\r\n',
    }),
  },
};

async function exportAll(context: RequestContext<Kind>): Promise<HttpResponse> {
  const { request, services, found: kind } = context;
  const type = negotiate(header(request, 'accept'), offersFor(request.search));
  const { selection, sent } = parseUnpagedQuery(kind, [FORMAT.name], request.search);
  const format = parseFormat(sent.get(FORMAT.name));
  const { name, text } = await services.exports.open(kind, format, selection, subjectOf(context));
  return {
    status: 200,
    headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` },
    body: text,
  };
}

/**
 * The media types that `Accept` is judged against, before the rest of the query is read (spec 3.11):
 * that of the named format, or all of them if the format is malformed.
 */
function offersFor(search: string): Offer[] {
  const [format = 'csv', ...more] = new URLSearchParams(search).getAll(FORMAT.name);
  return isFormat(format) && more.length === 0 ? [offerOf(format)] : FORMATS.map(offerOf);
}

function parseFormat(text = 'csv'): Format {
  if (isFormat(text)) return text;
  throw malformed(FORMAT.name, `must be one of ${FORMATS.join(', ')}`);
}

function offerOf(format: Format): Offer {
  const type = FORMAT_TYPES[format];
  return { type, contentType: format === 'csv' ? `${type}; charset=utf-8` : type };
}
