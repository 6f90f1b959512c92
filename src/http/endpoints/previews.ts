/** `/admin/skus/preview/` and `/admin/goods/preview/`: pages with values that are not stored. */
import type { Kind } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import { parseDraft } from '../../resources/drafting.ts';
import { membersOf } from '../../resources/members.ts';
import type { HttpResponse } from '../message.ts';
import { uncheckedJson } from '../operations/body.ts';
import { HTML_CONTENT, HTML_TYPE } from '../operations/document.ts';
import { operation, type RequestContext } from '../operations/operation.ts';
import { definePath, type Path } from '../operations/path.ts';
import { subjectOf } from '../rules/authorization.ts';
import { patchModeOf } from '../rules/json-body.ts';
import { componentName, withArticle } from './kinds/names.ts';
import { tagOf } from './kinds/place.ts';
import { previewAttributes, previewOf } from './kinds/shapes.ts';
import { POLICY } from './pages.ts';

export const PREVIEW_PATHS: readonly Path[] = [KINDS.skus, KINDS.goods].map(previewPath);

function previewPath(kind: Kind): Path {
  const name = componentName(kind);
  return definePath<Kind>({
    template: `${kind.path}preview/`,
    executor: 'owner',
    tag: tagOf({ kind, nesting: null, protectBooks: false }),
    name: `${name}Preview`,
    about: `previews of ${kind.plural}`,
    label: kind.label,
    resolve: () => kind,
    operations: {
      POST: operation({
        id: `preview${name}`,
        summary: `Preview the page of ${withArticle(kind.label)}`,
        description:
          'The page as the shop would show it with these values, which are checked as for a write. Nothing is stored. With `id`, attributes that are left out are taken from that object.',
        role: 'editor',
        body: uncheckedJson(
          previewOf(kind),
          () => previewAttributes(kind),
          membersOf(kind),
          (body) => parseDraft(kind, body, 'partial'),
        ),
        responses: {
          200: {
            name: 'Preview',
            description: 'The page. Its links begin with the path of the pages.',
            headers: ['Content-Security-Policy', 'Preference-Applied?'],
            content: HTML_CONTENT,
          },
        },
        run: preview,
      }),
    },
  });
}

async function preview(context: RequestContext<Kind>, body: unknown): Promise<HttpResponse> {
  const { request, services, found: kind } = context;
  return {
    status: 200,
    headers: { 'Content-Type': HTML_TYPE, 'Content-Security-Policy': POLICY },
    body: await services.previews.page(kind, body, patchModeOf(request), subjectOf(context)),
  };
}
