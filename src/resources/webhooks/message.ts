/** What is sent to a webhook: the changes of one change set, in one message or several. */
import { hash } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import type { Webhook } from './ports.ts';
import type { ChangeRun } from './shared-changes.ts';

/** The type of every message. */
const TYPE = 'catalog.changes';

/** UTF-16 units after which a message is complete: signing one takes about two milliseconds. */
const MESSAGE_UNITS = 128 * 1024;

/** Hexadecimal digits of a digest in an id. */
const DIGEST_LENGTH = 12;

export interface Message {
  /** The same at each attempt, also after a restart, so that receivers recognise repetitions. */
  readonly id: string;
  readonly sequence: number;
  /** How many changes it holds. */
  readonly changes: number;
  readonly body: string;
  /** How much of the change set is delivered with this message. */
  readonly progress: Progress;
}

/** How much of a change set is delivered to a webhook. */
export interface Progress {
  /** The change set, and what the changes and the receiver depend on. */
  readonly of: string;
  readonly messages: number;
  readonly changes: number;
}

type ChangeSetNumbers = Pick<ChangeRun, 'sequence' | 'time'>;

/**
 * The messages about a change set; none if it changed nothing of the webhook's resources.
 *
 * @param runs the changes of the change set.
 * @param delivered the progress so far. If it is that of another change set, or of other settings
 *   of the webhook, nothing is delivered yet.
 * @throws what `runs` throws.
 */
export async function* messagesOf(
  webhook: Webhook,
  runs: AsyncIterable<ChangeRun>,
  delivered: Progress | null,
): AsyncGenerator<Message, void, void> {
  const wanted = new Set(JSON.parse(webhook.resources) as string[]);
  let builder: MessageBuilder | null = null;
  for await (const run of runs) {
    if (wanted.size > 0 && !wanted.has(run.resource)) continue;
    builder ??= new MessageBuilder(webhook, run, delivered);
    for (const text of run.texts) {
      builder.add(text);
      if (builder.isFull) yield builder.message();
    }
  }
  if (builder?.isEmpty === false) yield builder.message();
}

/** Collects the changes of a change set that are not delivered yet, message by message. */
class MessageBuilder {
  readonly #changeSet: ChangeSetNumbers;
  readonly #name: string;
  readonly #of: string;
  /** The changes that are delivered. */
  readonly #skipped: number;
  #part: number;
  #position = 0;
  #data = '';
  #changes = 0;

  constructor(webhook: Webhook, changeSet: ChangeSetNumbers, delivered: Progress | null) {
    this.#changeSet = changeSet;
    this.#name = nameOf(webhook, changeSet);
    this.#of = progressName(webhook, this.#name);
    const begun = delivered?.of === this.#of ? delivered : null;
    this.#part = begun?.messages ?? 0;
    this.#skipped = begun?.changes ?? 0;
  }

  get isEmpty(): boolean {
    return this.#changes === 0;
  }

  get isFull(): boolean {
    return this.#data.length >= MESSAGE_UNITS;
  }

  add(text: string): void {
    this.#position += 1;
    if (this.#position <= this.#skipped) return;
    this.#data += this.isEmpty ? text : `,${text}`;
    this.#changes += 1;
  }

  /** @returns the changes that were added since the last message. */
  message(): Message {
    const { sequence, time } = this.#changeSet;
    const [data, changes] = [this.#data, this.#changes];
    [this.#data, this.#changes] = ['', 0];
    this.#part += 1;
    const head = JSON.stringify({ type: TYPE, timestamp: time }).slice(0, -1);
    return {
      id: `${this.#name}_${this.#part}`,
      sequence,
      changes,
      body: `${head},"data":[${data}]}`,
      progress: { of: this.#of, messages: this.#part, changes: this.#position },
    };
  }
}

/**
 * The prefix of the ids of all messages about a change set. The numbers alone are not unique: after
 * a restore or a promotion they are assigned again to other webhooks and change sets, and other
 * `resources` make other messages. A receiver would drop those as repetitions.
 */
function nameOf({ id, created, resources }: Webhook, { sequence, time }: ChangeSetNumbers): string {
  const digest = hash('sha256', JSON.stringify([created, resources, time]), 'hex');
  return `msg_${id}_${sequence}_${digest.slice(0, DIGEST_LENGTH)}`;
}

/** @param name see {@link nameOf}. A new receiver gets the whole change set. */
function progressName({ url }: Webhook, name: string): string {
  return `${name} ${hash('sha256', url, 'hex').slice(0, DIGEST_LENGTH)}`;
}

/**
 * The headers of a delivery, signed as Standard Webhooks specifies. The one step takes a millisecond
 * or two, and many webhooks may get a message at the same time.
 *
 * @param secret as `Secrets.secretOf` (ports.ts) returns it.
 * @param time of this attempt, in milliseconds since the epoch.
 */
export function* signedHeaders(
  { id, body }: Pick<Message, 'id' | 'body'>,
  secret: string,
  time: number,
): Generator<undefined, Readonly<Record<string, string>>> {
  yield;
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(time / 1000)),
    'webhook-signature': new Signer(secret).sign(id, new Date(time), body),
  };
}
