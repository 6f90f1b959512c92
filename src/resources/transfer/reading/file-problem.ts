/** A file that cannot be read in the given format: nothing of it is imported. */
export class FileProblem extends Error {
  /** From 1; null if it is not known. */
  readonly row: number | null;
  readonly column: string | null;

  constructor(message: string, row: number | null = null, column: string | null = null) {
    super(message);
    this.row = row;
    this.column = column;
  }
}
