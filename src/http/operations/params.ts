/** The values of a path's parameters. */
export class Params {
  readonly #names: readonly string[];
  readonly #values: readonly string[];

  /** @param values in the order of the names. */
  constructor(names: readonly string[], values: readonly string[]) {
    this.#names = names;
    this.#values = values;
  }

  /** @throws Error if the path has no such parameter. */
  text(name: string): string {
    const value = this.#values[this.#names.indexOf(name)];
    if (value === undefined) throw new Error(`the path has no parameter ${name}`);
    return value;
  }

  /** The value of a parameter that consists of digits. */
  id(name: string): number {
    return Number(this.text(name));
  }

  /** The template with the values in their places. */
  fill(template: string): string {
    return template.replace(/\{(\w+)\}/g, (_, name: string) => this.text(name));
  }
}
