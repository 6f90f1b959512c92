/** What is sent to a webhook: the changes of one change set, in one message or several. */
import { hash } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { inTurns } from '../../slices.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { changesIn } from '../changes/published.ts';
import type { Webhook } from './ports.ts';

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

/**
 * The messages about a change set; none if it changed nothing of the webhook's resources.
 *
 * @param delivered the progress so far. If it is that of another change set, or of other settings
 *   of the webhook, nothing is delivered yet.
 */
export async function* messagesOf(
  webhook: Webhook,
  changeSet: ChangeSet,
  delivered: Progress | null,
): AsyncGenerator<Message, void, void> {
  const wanted = new Set(JSON.parse(webhook.resources) as string[]);
  const { sequence, time } = changeSet;
  const name = nameOf(webhook, changeSet);
  const of = progressName(webhook, name);
  const begun = delivered?.of === of ? delivered : null;
  let [part, position] = [begun?.messages ?? 0, 0];
  let [data, changes] = ['', 0];
  const message = (): Message => {
    part += 1;
    const head = JSON.stringify({ type: TYPE, timestamp: time }).slice(0, -1);
    return {
      id: `${name}_${part}`,
      sequence,
      changes,
      body: `${head},"data":[${data}]}`,
      progress: { of, messages: part, changes: position },
    };
  };
  for await (const change of inTurns(changesIn(changeSet))) {
    if (change === null || (wanted.size > 0 && !wanted.has(change.resource))) continue;
    position += 1;
    if (position <= (begun?.changes ?? 0)) continue;
    data += changes === 0 ? change.text(true) : `,${change.text(true)}`;
    changes += 1;
    if (data.length < MESSAGE_UNITS) continue;
    yield message();
    [data, changes] = ['', 0];
  }
  if (changes > 0) yield message();
}

/**
 * The prefix of the ids of all messages about a change set. The numbers alone are not unique: after
 * a restore or a promotion they are assigned again to other webhooks and change sets, and other
 * `resources` make other messages. A receiver would drop those as repetitions.
 */
function nameOf({ id, created, resources }: Webhook, { sequence, time }: ChangeSet): string {
  const digest = hash('sha256', JSON.stringify([created, resources, time]), 'hex');
  return `msg_${id}_${sequence}_${digest.slice(0, DIGEST_LENGTH)}`;
}

/** @param name see {@link nameOf}. A new receiver gets the whole change set. */
function progressName({ url }: Webhook, name: string): string {
  return `${name} ${hash('sha256', url, 'hex').slice(0, DIGEST_LENGTH)}`;
}

/**
 * The headers of a delivery, signed as Standard Webhooks specifies.
 *
 * @param secret as `Secrets.secretOf` (ports.ts) returns it.
 * @param time of this attempt, in milliseconds since the epoch.
 */
export function signedHeaders(
  { id, body }: Pick<Message, 'id' | 'body'>,
  secret: string,
  time: number,
): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(time / 1000)),
    'webhook-signature': new Signer(secret).sign(id, new Date(time), body),
  };
}
