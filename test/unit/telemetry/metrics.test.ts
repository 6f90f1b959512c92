/** Metrics whose values are not always known, and metrics of failures. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryWatch } from '../../../src/app/engine/memory.ts';
import type { Sources } from '../../../src/telemetry/metric-sources.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import {
  type ProcessFigures,
  type ProcessSources,
  withCountsOf,
} from '../../../src/telemetry/process-metrics.ts';
import { processMetricsWith, sourcesWith } from '../../support/metric-sources.ts';

/** The lines of one metric. */
async function linesOf(
  name: string,
  sources: Partial<Sources & ProcessSources> = {},
): Promise<string[]> {
  const own = processMetricsWith(sources);
  const text = await new Metrics('test', sourcesWith(sources), own).text();
  return text.split('\n').filter((line) => line.startsWith(name));
}

test('times are in seconds', async () => {
  const following = () => ({ connected: true, behind: 0, behindMs: 2500 });
  const sources = { oldestPage: () => 1500, hosts: { followers: () => 0, following } };
  const own = processMetricsWith();
  const metrics = new Metrics('test', sourcesWith(sources), own);
  own.delayed(40);
  metrics.committed({ transactions: 1, changes: 1, milliseconds: 20, refused: null });
  metrics.checkpointed({ milliseconds: 3000, failed: false });
  const lines = (await metrics.text()).split('\n');
  for (const line of [
    'catalog_page_queue_oldest_seconds 1.5',
    'catalog_following_behind_seconds 2.5',
    'catalog_event_loop_delay_seconds_sum 0.04',
    'catalog_commit_duration_seconds_sum{outcome="durable"} 0.02',
    'catalog_checkpoint_duration_seconds_sum{outcome="durable"} 3',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

test('the age of the last backup is in seconds', async () => {
  const lastBackup = () => Date.now() - 90_000;
  const [line = ''] = await linesOf('catalog_backup_age_seconds', { lastBackup });
  const age = Number(line.split(' ')[1]);
  assert.ok(age >= 90 && age < 600, line);
});

test('the age of the last backup has no value if there is no backup or its time cannot be read', async () => {
  const unreadable = () => {
    throw new Error('no JSON');
  };
  for (const lastBackup of [() => null, unreadable]) {
    assert.equal(await linesOf('catalog_backup_age_seconds', { lastBackup }), []);
  }
});

test('the disk metrics are the free space and the minimum, without values if it cannot be read', async () => {
  const disk = () => ({ free: 7, minimum: 5 });
  assert.equal(await linesOf('catalog_disk', { disk }), [
    'catalog_disk_free_bytes 7',
    'catalog_disk_min_free_bytes 5',
  ]);
  assert.equal(await linesOf('catalog_disk', { disk: () => null }), []);
});

test('the counts of failures are 0 before the first failure, so that it is seen as an increase', async () => {
  for (const [name, outcome] of [
    ['catalog_commit_duration_seconds', 'refused'],
    ['catalog_checkpoint_duration_seconds', 'failed'],
    ['catalog_webhook_deliveries', 'failed'],
  ]) {
    const lines = await linesOf(`${name}_`);
    const line = lines.find(
      (each) => /(?:count|total)\{/.test(each) && each.includes(`"${outcome}"`),
    );
    assert.match(line ?? '', / 0$/);
  }
  assert.equal(await linesOf('catalog_pages_failed', { failedPages: () => 3 }), [
    'catalog_pages_failed 3',
  ]);
});

test('resident memory has no value if it cannot be read, and other metrics still have one', async () => {
  const name = 'process_resident_memory_bytes';
  const unreadable = new MemoryWatch(1000, {
    // What Bun throws if no descriptor is free to read /proc.
    resident: () => {
      throw new Error('Failed to get memory usage');
    },
    now: () => 0,
    collect: () => {},
  });
  assert.equal(await linesOf(name, { residentMemory: () => 4096 }), [`${name} 4096`]);
  assert.equal(await linesOf(name, { residentMemory: unreadable.resident }), []);
  const others = await linesOf('catalog_ready', { residentMemory: unreadable.resident });
  assert.equal(others, ['catalog_ready 1']);
});

test('the metrics of the archive have values only if there is an archive', async () => {
  const archive = () => ({ changeSets: 3, seconds: 1.5 });
  assert.equal(await linesOf('catalog_archive', { archive }), [
    'catalog_archive_behind_seconds 1.5',
    'catalog_archive_behind_change_sets 3',
  ]);
  assert.equal(await linesOf('catalog_archive', { archive: () => null }), []);
});

test('a host that follows another one, or is followed, has metrics of that', async () => {
  const following = () => ({ connected: true, behind: 3, behindMs: 2500 });
  const hosts = { followers: () => 2, following };
  assert.equal(await linesOf('catalog_follow', { hosts }), [
    'catalog_followers 2',
    'catalog_following_connected 1',
    'catalog_following_behind_change_sets 3',
    'catalog_following_behind_seconds 2.5',
  ]);
  const cutOff = { followers: () => 0, following: () => ({ ...following(), connected: false }) };
  const lines = await linesOf('catalog_following_connected', { hosts: cutOff });
  assert.equal(lines, ['catalog_following_connected 0']);
  const alone = { followers: () => 0, following: () => null };
  assert.equal(await linesOf('catalog_follow', { hosts: alone }), ['catalog_followers 0']);
});

test('the metrics of a shared log have values only if the host shares one', async () => {
  const log = () => ({ behind: 3, silence: 1.5 });
  assert.equal(await linesOf('catalog_log_behind', { log }), ['catalog_log_behind 3']);
  assert.equal(await linesOf('catalog_log_silence', { log }), ['catalog_log_silence_seconds 1.5']);
  assert.equal(await linesOf('catalog_log_behind', { log: () => null }), []);
  assert.equal(await linesOf('catalog_log_silence', { log: () => null }), []);
});

test('the memory metrics are the limit, whether memory is scarce, and that of bodies', async () => {
  const sources = { memoryLimit: 9, memoryScarce: () => true, bodyMemory: () => 4 };
  assert.equal(await linesOf('catalog_memory', sources), [
    'catalog_memory_limit_bytes 9',
    'catalog_memory_scarce 1',
  ]);
  assert.equal(await linesOf('catalog_http_body', sources), ['catalog_http_body_memory_bytes 4']);
});

test('a count that is kept elsewhere is the same however often it is read', async () => {
  const changes = () => ({ delivered: 5, failed: 2, failing: 0, lag: 0 });
  const sources = { changes, logLinesLost: () => 3 };
  const metrics = new Metrics('test', sourcesWith(sources), processMetricsWith(sources));
  await metrics.text();
  const lines = (await metrics.text()).split('\n');
  for (const line of [
    'catalog_webhook_deliveries_total{outcome="delivered"} 5',
    'catalog_webhook_deliveries_total{outcome="failed"} 2',
    'catalog_log_lines_lost_total 3',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

test('the metrics of several processes are added up without changing those of one process', async () => {
  const own = processMetricsWith({ connections: () => 2, residentMemory: () => null });
  const other = processMetricsWith({ connections: () => 3, residentMemory: () => 4096 });
  for (const process of [own, other]) {
    process.onResponse({
      id: 'request',
      method: 'GET',
      route: '/books/',
      path: '/books/',
      status: 200,
      milliseconds: 2,
      bytes: 10,
      address: '127.0.0.1',
      subject: null,
      aborted: false,
    });
  }
  const metrics = new Metrics('test', sourcesWith(), own);
  // As sent by another process.
  const figures = JSON.parse(JSON.stringify(await other.figures())) as ProcessFigures;
  const together = (await metrics.text([figures])).split('\n');
  const request = 'method="GET",route="/books/",status="200"';
  for (const line of [
    'catalog_http_connections 5',
    'catalog_http_response_bytes_total 20',
    'process_resident_memory_bytes 4096',
    `catalog_http_request_duration_seconds_count{${request}} 2`,
    `catalog_http_request_duration_seconds_bucket{le="0.0025",${request}} 2`,
    `catalog_http_request_duration_seconds_bucket{le="+Inf",${request}} 2`,
    'catalog_ready 1',
  ]) {
    assert.ok(together.includes(line), `${line} in ${together.join('\n')}`);
  }
  assert.ok((await metrics.text()).includes('catalog_http_connections 2\n'));
});

test('the counts of processes that have ended stay, and their connections do not', async () => {
  const ended = processMetricsWith({ connections: () => 3, logLinesLost: () => 4 });
  let counts: ProcessFigures = [];
  for (let end = 1; end <= 2; end += 1) counts = await withCountsOf(counts, await ended.figures());
  const own = processMetricsWith({ connections: () => 2, logLinesLost: () => 1 });
  const lines = (await own.text([counts])).split('\n');
  for (const line of ['catalog_http_connections 2', 'catalog_log_lines_lost_total 9']) {
    assert.ok(lines.includes(line), line);
  }
});

test.run();
