/**
 * The table of operations: every path, its methods, and what they do. The router, OPTIONS, `Allow`,
 * the description of the service and its contract test are derived from it.
 */
import type { KindName } from '../model/kind.ts';
import { ALL_KINDS, COLLECTIONS } from '../model/kinds.ts';
import { CHANGES_PATH } from './endpoints/changes.ts';
import { bulkPath } from './endpoints/kinds/bulk.ts';
import { collectionPath } from './endpoints/kinds/collections.ts';
import { exportPath } from './endpoints/kinds/exports.ts';
import { consolePaths } from './endpoints/console.ts';
import { documentPaths } from './endpoints/documents.ts';
import { HOST_PATHS } from './endpoints/hosts/paths.ts';
import { HEALTH_PATHS } from './endpoints/health.ts';
import { itemAuditsPath } from './endpoints/kinds/item-audits.ts';
import { IMPORT_PATHS, importPath } from './endpoints/imports/paths.ts';
import { itemPath } from './endpoints/kinds/items.ts';
import { REVERSAL_PATH } from './endpoints/kinds/reversal.ts';
import { PAGE_BUILD_PATHS } from './endpoints/page-builds.ts';
import { PAGE_PATHS } from './endpoints/pages.ts';
import { PREVIEW_PATHS } from './endpoints/previews.ts';
import { SUMMARY_PATH } from './endpoints/summary.ts';
import { TOKEN_PATHS } from './endpoints/tokens.ts';
import { USER_PATHS } from './endpoints/users.ts';
import { createWebhook, DELIVERIES_PATH } from './endpoints/webhooks.ts';
import { VIEWER_PATHS } from './endpoints/viewer/paths.ts';
import type { Path } from './operations/path.ts';
import type { Settings } from './operations/settings.ts';

/** @returns the paths in the order in which the description shows them. */
export function operationTable(settings: Settings): readonly Path[] {
  return [
    ...documentPaths(settings),
    ...VIEWER_PATHS,
    ...HEALTH_PATHS,
    ...TOKEN_PATHS,
    ...USER_PATHS,
    ...kindPaths(settings),
    DELIVERIES_PATH,
    ...PREVIEW_PATHS,
    REVERSAL_PATH,
    CHANGES_PATH,
    ...IMPORT_PATHS,
    ...PAGE_BUILD_PATHS,
    ...PAGE_PATHS,
    SUMMARY_PATH,
    ...HOST_PATHS,
    ...consolePaths(settings),
  ];
}

/** POST for the kinds whose response to a creation has more than the object. */
const CREATIONS: Partial<Record<KindName, typeof createWebhook>> = { webhooks: createWebhook };

/** The paths of collections, bulk operations, items, audit entries of items, and nested rows. */
function kindPaths({ protectBooks, maxImport }: Settings): Path[] {
  const own = COLLECTIONS.flatMap((kind) => {
    const place = { kind, nesting: null, protectBooks };
    const bulk = kind.bulk
      ? [bulkPath(place), exportPath(place), importPath(place, maxImport)]
      : [];
    const history = kind.audited ? [itemAuditsPath(place)] : [];
    const creation = CREATIONS[kind.name]?.(place);
    return [collectionPath(place, creation), ...bulk, itemPath(place), ...history];
  });
  const nested = ALL_KINDS.flatMap((kind) =>
    kind.nestings.flatMap((nesting) => {
      const place = { kind, nesting, protectBooks };
      return [collectionPath(place), itemPath(place)];
    }),
  );
  return [...own, ...nested];
}
