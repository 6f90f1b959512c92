/** docs/monitoring and docs/operations.md contain every metric and no other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { processMetricsWith, sourcesWith } from '../../support/metric-sources.ts';
import { ROOT } from '../../support/paths.ts';

const documentOf = (...path: string[]) => readFileSync(join(ROOT, 'docs', ...path), 'utf8');

const own = processMetricsWith();
const metrics = new Metrics('test', sourcesWith(), own);
own.onResponse({
  id: 'request',
  method: 'GET',
  route: '/books/',
  path: '/books/',
  status: 200,
  milliseconds: 1,
  bytes: 1,
  address: '127.0.0.1',
  subject: null,
  aborted: false,
});
const TEXT = await metrics.text();

/** Names of series, without labels. */
const SERIES = new Set([...TEXT.matchAll(/^(\w+)(?:\{.*\})? \S+$/gm)].map(([, name = '']) => name));

/** Names of metrics; the name of a histogram is without `_bucket`, `_sum` and `_count`. */
const METRICS = [...TEXT.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);

const namesIn = (text: string) => new Set(text.match(/\b(?:catalog|process)_\w+\b/g));

/** Labels of series whose values the program decides: `outcome="refused"`. */
const OUTCOME = /(\w+)\{[^}]*outcome="(\w+)"/g;

const ALERTS = documentOf('monitoring', 'alerts.yml');
const DASHBOARD = documentOf('monitoring', 'dashboard.json');

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly w: number };
  readonly targets: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(DASHBOARD) as { panels: readonly Panel[] };

const EXPRESSIONS = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

test('the test finds the metrics', () => {
  assert.ok(METRICS.length >= 29, `${METRICS.length} metrics`);
  assert.ok(SERIES.size > METRICS.length, `${SERIES.size} series`);
});

for (const [what, text] of [
  ['the alerts', ALERTS],
  ['the tests of the alerts', documentOf('monitoring', 'alerts.test.yml')],
  ['the dashboard', EXPRESSIONS.join('\n')],
] as const) {
  test(`every series in ${what} exists`, () => {
    const names = [...namesIn(text)];
    assert.ok(names.length > 10, `${names.length} names`);
    assert.equal(
      names.filter((name) => !SERIES.has(name)),
      [],
    );
    for (const [, name = '', outcome = ''] of text.matchAll(OUTCOME)) {
      const series = new RegExp(`^${name}\\{[^}]*outcome="${outcome}"`, 'm');
      assert.match(TEXT, series);
    }
  });
}

test('the dashboard shows every metric', () => {
  const shown = EXPRESSIONS.join('\n');
  assert.equal(
    METRICS.filter((name) => !new RegExp(`\\b${name}(?:_bucket|_sum|_count)?\\b`).test(shown)),
    [],
  );
  assert.is(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { title, gridPos } of panels) assert.ok(gridPos.x + gridPos.w <= 24, title);
});

test('the table of docs/operations.md has every metric and no other', () => {
  const [, section = ''] = documentOf('operations.md').split('\n## Metrics\n');
  const rows = section.split('\n## ')[0]?.match(/^\| `.*$/gm) ?? [];
  const documented = namesIn(rows.map((row) => row.split(' | ')[0]).join('\n'));
  assert.equal([...documented].sort(), [...METRICS].sort());
});

interface Case {
  readonly name: string;
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly object[];
  }[];
}

test('every alert has a case in alerts.test.yml, in which it does not fire at first and then fires', () => {
  const alerts = [...ALERTS.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const { tests } = Bun.YAML.parse(documentOf('monitoring', 'alerts.test.yml')) as {
    readonly tests: readonly Case[];
  };
  assert.ok(alerts.length > 10, `${alerts.length} alerts`);
  assert.equal(
    tests.map(({ name }) => name),
    alerts,
  );
  for (const { name, alert_rule_test: steps } of tests) {
    assert.equal(
      steps.map(({ alertname, exp_alerts: fired }) => [alertname, fired.length > 0]),
      [
        [name, false],
        [name, true],
      ],
    );
  }
});

test.run();
