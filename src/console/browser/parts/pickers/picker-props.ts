/** What every field takes that refers to an item. */
export interface PickerProps {
  readonly id: string;
  readonly value: number | null;
  /** What the field shows for the value, if that is known already. */
  readonly label?: string | undefined;
  /** Offered for what was typed and not found. `back` puts the text back into the field. */
  readonly onCreate?: ((name: string, back: () => void) => void) | undefined;
  /** A choice for "null", by its name. */
  readonly none?: string;
  readonly required?: boolean;
  readonly readOnly?: boolean;
  readonly describedBy?: string | undefined;
  readonly invalid?: boolean;
  readonly placeholder?: string;
}
