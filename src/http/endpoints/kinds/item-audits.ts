/** `/admin/<collection>/<id>/audits/`: the entries of one row in the audit trail (spec 1.13). */
import type { Kind } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import { parseQuery } from '../../../resources/query.ts';
import { type HttpResponse, whenReady } from '../../message.ts';
import { noBody } from '../../operations/body.ts';
import { operation, type RequestContext } from '../../operations/operation.ts';
import { PK } from '../../operations/parameters.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { JSON_OFFERS } from '../../rules/negotiation.ts';
import { pageOf } from '../lists.ts';
import { listResponse } from './collections.ts';
import { listParameters } from './list-parameters.ts';
import { componentName, withArticle } from './names.ts';
import { type Place, tagOf, templateOf } from './place.ts';

/** A row that exists or has existed. */
interface Subject {
  readonly kind: Kind;
  readonly id: number;
}

const { audits } = KINDS;

const SEGMENT = 'audits/';

/** @param place the path of a collection whose writes are audited. */
export function itemAuditsPath(place: Place): Path {
  const { kind } = place;
  const name = `${componentName(audits)}ListOf${componentName(kind)}`;
  const about = `${audits.plural} of ${withArticle(kind.label)}`;
  return definePath<Subject>({
    template: `${templateOf(place)}{${PK.name}}/${SEGMENT}`,
    parameters: [PK],
    tag: tagOf(place),
    name,
    about,
    label: audits.label,
    offers: JSON_OFFERS,
    resolve(params, { records }) {
      const id = params.id(PK.name);
      records.requireAssigned(kind, id);
      return { kind, id };
    },
    operations: {
      GET: operation({
        id: `list${name}`,
        summary: `List ${about}`,
        description: `Who changed the ${kind.label}, when, and its attributes before and after. A deleted ${kind.label} keeps its entries. Paged, sorted and filtered like \`${audits.path}\`.`,
        role: kind.adminOnly ? 'admin' : 'editor',
        parameters: listParameters(audits),
        body: noBody,
        responses: { 200: listResponse(audits) },
        run: list,
      }),
    },
  });
}

function list(context: RequestContext<Subject>): HttpResponse | Promise<HttpResponse> {
  const { request, services, found } = context;
  const query = parseQuery(audits, request.search);
  const selection = {
    ...query.selection,
    filters: [
      ...query.selection.filters,
      ['resource', found.kind.name] as const,
      ['resource_id', found.id] as const,
    ],
  };
  return whenReady(services.records.list({ kind: audits, parent: null }, selection), (listing) =>
    pageOf(context, query, listing, SEGMENT),
  );
}
