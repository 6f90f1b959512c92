/** The package has no types of its own; this is what the tests use of it. */
declare module '@adobe/structured-data-validator' {
  interface Issue {
    readonly issueMessage: string;
    readonly severity: 'ERROR' | 'WARNING';
  }

  /** Items by their schema.org types, as an extractor finds them on a page. */
  type Items = Readonly<Record<string, readonly object[]>>;

  class Validator {
    validate(found: {
      readonly jsonld: Items;
      readonly microdata: Items;
      readonly rdfa: Items;
    }): Promise<Issue[]>;
  }

  export default Validator;
}
