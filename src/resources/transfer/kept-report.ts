/** The report of an import of an earlier process (spec 12.10). */
import * as v from 'valibot';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import { entityTag } from '../entity-tag.ts';
import { hasEnded, type ImportError, type ImportSummary } from './import-state.ts';
import type { EndedReport } from './unsaved-reports.ts';

export interface KeptReport {
  readonly summary: ImportSummary;
  /** JSON text of the report as it is to be saved, if the process ended during the import. */
  readonly interrupted: string | null;
}

/** What a report must have. */
const keptShape = v.looseObject({
  id: v.number(),
  collection: v.string(),
  state: v.picklist(['checking', 'writing', 'done', 'refused', 'failed']),
  error_count: v.number(),
  errors: v.array(v.unknown()),
  changes: v.array(v.unknown()),
  /** Reports of earlier versions have none. */
  created_missing: v.optional(v.array(v.unknown())),
});

/**
 * Reads a report. An import that had not ended is `failed` in the result.
 *
 * @param text JSON.
 * @throws SyntaxError, ValiError if it is not a report.
 */
export function parseKept(text: string): KeptReport {
  const report: unknown = JSON.parse(text);
  // The result of v.parse is not used: it has the members of the shape first.
  v.parse(keptShape, report, FIRST_FAULT);
  const { errors, changes, created_missing, ...summary } = report as ImportSummary & {
    readonly errors: readonly object[];
    readonly changes: readonly object[];
    readonly created_missing?: readonly object[];
  };
  if (hasEnded(summary.state)) return { summary, interrupted: null };
  const error: ImportError = {
    row: null,
    column: null,
    message:
      summary.state === 'checking'
        ? 'the import was interrupted; no row was written'
        : 'the import was interrupted while it wrote rows; the audit trail, which admins see, shows which were written; import the others again',
  };
  const failed = { ...summary, state: 'failed', error_count: summary.error_count + 1 } as const;
  return {
    summary: failed,
    interrupted: JSON.stringify({
      ...failed,
      errors: [...errors, error],
      changes,
      created_missing,
    }),
  };
}

/** A report that is in memory. @param text JSON. */
export function endedReport(text: string): EndedReport {
  // The ETag stays when the report is read from the disk.
  return { text, moment: { etag: entityTag(text), units: text.length, parts: () => [text] } };
}
