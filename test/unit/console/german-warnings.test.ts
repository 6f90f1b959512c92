/** The console recognises warnings by their text, so the texts of the server decide what is German. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryWatch } from '../../../src/app/engine/memory.ts';
import { type Cause, Readiness } from '../../../src/app/readiness.ts';
import type { SummaryOptions } from '../../../src/app/services/summary.ts';
import { refusalDe } from '../../../src/console/browser/api/german/refusals-de.ts';
import { NOW, summariesWith } from '../../support/summaries.ts';

const DAY = 24 * 3_600_000;

const unreadable = (): never => {
  throw new Error('unreadable');
};

/** What German users read on the home screen of a server about which nothing else is wrong. */
async function warnings(wrong: Partial<SummaryOptions>): Promise<string[]> {
  const summaries = summariesWith({ onError: () => {}, ...wrong });
  const found = (await summaries.read()).warnings;
  return found.map(({ message }) => refusalDe(message) ?? `English: ${message}`);
}

test('every warning is German', async () => {
  for (const [wrong, german] of [
    [
      { freeSpace: () => Promise.resolve(900 * 1024 ** 2) },
      'Die Festplatte ist fast voll: Noch 900 MiB sind frei.',
    ],
    [
      { freeSpace: () => Promise.reject(new Error('no statfs')) },
      'Der freie Platz auf der Festplatte lässt sich nicht bestimmen.',
    ],
    [{ lastBackup: () => null }, 'Es wurde noch nie eine Sicherung erstellt.'],
    [{ lastBackup: () => NOW - 9 * DAY }, 'Die letzte Sicherung ist 9 Tage alt.'],
    [{ lastBackup: unreadable }, 'Der Zeitpunkt der letzten Sicherung lässt sich nicht lesen.'],
    [
      { isMemoryScarce: () => true },
      'Der Arbeitsspeicher ist fast aufgebraucht: Neue Daten werden abgelehnt.',
    ],
    [
      { pages: { waiting: 1, retry: { size: 1 } } },
      '1 Seite des Geschäfts lässt sich nicht schreiben; das Protokoll des Servers sagt, warum.',
    ],
    [
      { pages: { waiting: 2, retry: { size: 2 } } },
      '2 Seiten des Geschäfts lassen sich nicht schreiben; das Protokoll des Servers sagt, warum.',
    ],
    [
      { reason: () => 'the disk refused a write' },
      'Der Server nimmt zurzeit keine Änderungen an: Die Festplatte hat eine Änderung abgelehnt.',
    ],
  ] satisfies [Partial<SummaryOptions>, string][]) {
    assert.equal(await warnings(wrong), [german]);
  }
  assert.equal(await warnings({}), []);
});

test('every reason why a server is not ready is German', () => {
  const causes: Record<Cause, true> = {
    closing: true,
    log_stopped: true,
    log_unreachable: true,
    log_refusing: true,
    log_catching_up: true,
    starting: true,
    disk: true,
  };
  for (const cause of Object.keys(causes) as Cause[]) {
    const readiness = new Readiness();
    readiness.raise(cause);
    assert.is.not(refusalDe(readiness.reason() ?? ''), null, cause);
  }
});

test('that new data is refused for want of memory is German', () => {
  const full = new MemoryWatch(1000, { resident: () => 1000, now: () => 0, collect: () => {} });
  const german = /^Der Server hat zu wenig Arbeitsspeicher/;
  assert.match(refusalDe(full.reason() ?? '') ?? '', german);
  assert.throws(full.requireRoom, ({ message }: Error) => german.test(refusalDe(message) ?? ''));
});

test.run();
