/** What a text of the catalog of messages is. */
import type { en } from './en.ts';
import type { laterEn } from './later-en.ts';

export type MessageKey = keyof typeof en | keyof typeof laterEn;

/** A text, or one for each plural category of its `count` (Unicode CLDR). */
export type Message = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;

export type Messages = Readonly<Record<MessageKey, Message>>;
