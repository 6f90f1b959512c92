/** What a server measures: its share of the memory, and where its metrics are. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { metricsAddress, Observability } from '../../../src/app/observability.ts';

test('--max-memory is divided among the processes: the workers and the owner of the directory', () => {
  for (const [workers, processes] of [
    [1, 1],
    [2, 3],
    [8, 9],
  ] as const) {
    const { memory } = new Observability(
      {
        data: '.',
        host: '127.0.0.1',
        logLevel: 'silent',
        logFormat: 'json',
        maxMemory: 9e9,
        workers,
      } as ConstructorParameters<typeof Observability>[0],
      'test',
    );
    assert.is(memory.limit, 9e9 / processes);
  }
});

test('the metrics are at the host of the server, unless they have one of their own', () => {
  const host = '0.0.0.0';
  assert.is(metricsAddress({ host, metricsHost: '::1' }), null);
  assert.is(metricsAddress({ host, metricsPort: 9100 })?.host, host);
  assert.is(metricsAddress({ host, metricsPort: 9100, metricsHost: '::1' })?.host, '::1');
});

test.run();
