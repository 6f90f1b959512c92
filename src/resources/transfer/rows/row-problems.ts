/** What is wrong with one row of a file. */
import { hasCode, messageOf } from '../../../errors.ts';
import { IntegrityError } from '../../../model/failures.ts';
import { FileProblem } from '../reading/file-problem.ts';

export interface RowProblem {
  /** As the header names it; null for the row as a whole. */
  readonly column: string | null;
  readonly message: string;
}

/** A problem of a file, with the row that has it; null if no row is known. */
export interface PlacedProblem extends RowProblem {
  readonly row: number | null;
}

/** The failure of a row that cannot be imported. */
export class RowProblems extends Error {
  readonly problems: readonly RowProblem[];

  constructor(problems: readonly RowProblem[]) {
    super(problems.map(({ column, message }) => `${column}: ${message}`).join('; '));
    this.problems = problems;
  }
}

/**
 * The problems that a failure is about; null if the failure is not about the row.
 *
 * @param columnOf gives the column of an attribute.
 */
export function problemsOf(
  error: unknown,
  columnOf: (attribute: string) => string,
): readonly RowProblem[] | null {
  if (error instanceof RowProblems) return error.problems;
  if (error instanceof IntegrityError) {
    const { violation, dependent } = error;
    if (dependent !== undefined) {
      // Without the index of the row in its commit, which the message of the error has.
      const { message } = new IntegrityError(violation, { dependent });
      return [{ column: null, message }];
    }
    return [{ column: columnOf(violation.attribute), message: violation.message }];
  }
  if (!hasCode(error, 'invalid')) return null;
  const problems = Object.entries(error.fields ?? {}).flatMap(([attribute, messages]) =>
    messages.map((message) => ({ column: columnOf(attribute), message })),
  );
  // A row without a problem would be written.
  return problems.length > 0 ? problems : [{ column: null, message: error.message }];
}

/** The failure of a commit: the rows before it are written, and those after it are not. */
export class CommitFailure extends Error {
  /** At least one. The last one says which rows are written. */
  readonly problems: readonly PlacedProblem[];

  /**
   * @param written says which rows are written.
   * @param at the row at fault and what is wrong with it, if that is why the commit failed.
   */
  constructor(
    written: string,
    cause: unknown,
    at: { readonly row: number | null; readonly problems: readonly RowProblem[] },
  ) {
    super(`${written}: ${messageOf(cause)}`, { cause });
    const placed = at.row === null ? [] : at.problems.map((each) => ({ row: at.row, ...each }));
    const last = placed.pop();
    const whole = { row: null, column: null, message: this.message };
    this.problems = [
      ...placed,
      last === undefined ? whole : { ...last, message: `${written}: ${last.message}` },
    ];
  }
}

/** What a report shows of the failure that ended an import. At least one problem. */
export function placedProblems(error: unknown): readonly PlacedProblem[] {
  if (error instanceof CommitFailure) return error.problems;
  const { row, column } = error instanceof FileProblem ? error : { row: null, column: null };
  return [{ row, column, message: messageOf(error) }];
}
