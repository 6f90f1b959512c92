/** What a server measures: its share of the memory, and where its metrics are. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { metricsAddress, Observability } from '../../../src/app/observability.ts';

function observing(workers = 1): Observability {
  const options = { data: '.', host: '127.0.0.1', logLevel: 'silent', logFormat: 'json' };
  return new Observability(
    { ...options, maxMemory: 9e9, workers } as ConstructorParameters<typeof Observability>[0],
    'test',
  );
}

test('--max-memory is divided among the processes: the workers and the owner of the directory', () => {
  for (const [workers, processes] of [
    [1, 1],
    [2, 3],
    [8, 9],
  ] as const) {
    assert.is(observing(workers).memory.limit, 9e9 / processes);
  }
});

test('a shared log that does not answer is a warning, and makes the host not ready', () => {
  const { log, readiness, onReplicationState } = observing();
  const warnings: string[] = [];
  log.warn = (message) => void warnings.push(message);
  onReplicationState('unreachable');
  assert.equal(warnings, ['the log that the hosts share: silent']);
  assert.is(readiness.reason(), 'the log that the hosts share does not answer');
});

test('the metrics are at the host of the server, unless they have one of their own', () => {
  const host = '0.0.0.0';
  assert.is(metricsAddress({ host, metricsHost: '::1' }), null);
  assert.is(metricsAddress({ host, metricsPort: 9100 })?.host, host);
  assert.is(metricsAddress({ host, metricsPort: 9100, metricsHost: '::1' })?.host, '::1');
});

test.run();
