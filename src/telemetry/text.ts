/** Formats lines of the log for people, with the same facts as the JSON. */

const COLOURS: Readonly<Record<string, string>> = { error: '31', warn: '33', debug: '2' };

/** Members that have a fixed place in the line. */
const PLACED = new Set(['level', 'time', 'msg', 'stack']);

/**
 * @param line one JSON object, as the log writes it.
 * @param colours whether a terminal shows the line.
 * @returns time (UTC), level, message and the other members as `name=value`; a stack follows on
 *   lines of its own.
 */
export function asText(line: string, colours: boolean): string {
  const event = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { level, time, msg, stack } = event;
  const rest = Object.entries(event)
    .filter(([name]) => !PLACED.has(name))
    .map(([name, value]) => ` ${name}=${plain(value)}`);
  const label = String(level).toUpperCase().padEnd(5);
  const colour = colours ? COLOURS[String(level)] : undefined;
  const shown = colour === undefined ? label : `\u001b[${colour}m${label}\u001b[0m`;
  const clock = String(time).slice(11, 23);
  const lines = typeof stack === 'string' ? stack.split('\n').map((each) => `    ${each}`) : [];
  const first = `${clock} ${shown} ${escaped(`${String(msg)}${rest.join('')}`)}`;
  return `${[first, ...lines.map(escaped)].join('\n')}\n`;
}

/** Quotes a value with a space in it, which would look like two values. */
function plain(value: unknown): string {
  return typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
}

/**
 * Escapes control characters as JSON does. They could move the cursor of a terminal, reverse the
 * text after them, or forge a line (CWE-117).
 */
export function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (found) =>
    found.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
