/** What the conditions of a request are compared with (RFC 9110, section 8.8). */
export interface Validators {
  /** Strong entity tag, quotes included. */
  readonly etag: string;
  /** In whole seconds, as `Last-Modified` and `If-Modified-Since` have it. */
  readonly modified?: Date | undefined;
  /** Caching headers, which a 304 repeats (section 15.4.5). */
  readonly caching?: Readonly<Record<string, string>>;
}
