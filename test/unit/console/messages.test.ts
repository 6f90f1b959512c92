/** The texts of the console in both languages. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { de } from '../../../src/console/browser/messages/de.ts';
import { en } from '../../../src/console/browser/messages/en.ts';
import { laterEn } from '../../../src/console/browser/messages/later-en.ts';
import type { Message } from '../../../src/console/browser/messages/message.ts';

const ENGLISH: Readonly<Record<string, Message>> = { ...en, ...laterEn };
const GERMAN: Readonly<Record<string, Message>> = de;

const formsOf = (message: Message) =>
  typeof message === 'string' ? [message] : Object.values(message);

const valuesOf = (message: Message) =>
  [...new Set(formsOf(message).flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();

test('each text exists in both languages, with the same values', () => {
  assert.equal(Object.keys(GERMAN).sort(), Object.keys(ENGLISH).sort());
  for (const [key, message] of Object.entries(ENGLISH)) {
    assert.equal(valuesOf(GERMAN[key] ?? ''), valuesOf(message), key);
  }
});

test('messages speak of users, not of somebody', () => {
  for (const [key, message] of [...Object.entries(ENGLISH), ...Object.entries(GERMAN)]) {
    for (const text of formsOf(message)) {
      assert.not.match(text, /somebody|everybody|whoever|jemand/i, key);
    }
  }
});

test.run();
