/** What is wrong with one row of a file. */
import { hasCode } from '../../../errors.ts';
import { IntegrityError } from '../../../model/failures.ts';

export interface RowProblem {
  /** As the header names it; null for the row as a whole. */
  readonly column: string | null;
  readonly message: string;
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
