/** What the application of every process has: that of the owner of a directory, and of a worker. */
import { messageOf } from '../../errors.ts';
import type { ApplicationOptions } from '../../http/application.ts';
import { Money } from '../../model/money.ts';
import type { AuditedStore } from '../../resources/audit/audited-store.ts';
import { Undo } from '../../resources/audit/undo.ts';
import { Records } from '../../resources/records.ts';
import { Downloads } from '../../resources/transfer/downloads.ts';
import { Exports } from '../../resources/transfer/exports.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { ServeOptions } from '../server-options.ts';

type CommonSettings = Pick<
  ServeOptions,
  | 'basePath'
  | 'corsOrigins'
  | 'maxImport'
  | 'maxJsonDepth'
  | 'maxJsonElements'
  | 'pages'
  | 'protectBooks'
  | 'sendTimeout'
>;

/** @param now milliseconds since the epoch; left out, real time. */
export function commonOptions(
  options: CommonSettings,
  audited: AuditedStore,
  monitor: Pick<Monitor, 'log'>,
  version: string,
  now?: () => number,
) {
  const { basePath, corsOrigins, maxImport, pages, sendTimeout } = options;
  const exports = new Exports(audited.store, new Money(pages.currency), now);
  return {
    records: new Records(audited),
    undo: new Undo(audited),
    exports: new Downloads(exports, sendTimeout),
    maxImport,
    basePath,
    corsOrigins,
    version,
    protectBooks: options.protectBooks === true,
    jsonLimits: { depth: options.maxJsonDepth, elements: options.maxJsonElements },
    onFault: (requestId, error) =>
      monitor.log.failure(`request failed: ${messageOf(error)}`, error, { request_id: requestId }),
  } satisfies Partial<ApplicationOptions>;
}
