/** The examples for containers: their variables reach the program, and no others do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandFacts, inertProgram } from '../../../release/program-facts.ts';
import { ROOT } from '../../support/paths.ts';

const example = (name: string) => readFileSync(join(ROOT, 'docs', 'examples', name), 'utf8');

/** Every variable that stands for a flag of `serve`. */
const VARIABLES = new Set(
  commandFacts(inertProgram())
    .filter(({ name }) => name === 'serve')
    .flatMap(({ groups }) => groups.flatMap(({ flags }) => flags.map(({ variable }) => variable))),
);

for (const name of ['kubernetes.yaml', 'compose.yaml']) {
  test(`${name} sets only variables that serve reads`, () => {
    const set = example(name).match(/(?<=(?:name:|^) *)CATALOG_\w+/gm) ?? [];
    assert.ok(set.length >= 4, set.join());
    for (const variable of set) assert.ok(VARIABLES.has(variable), variable);
  });
}

test('a service of any name leaves the variables of the server in Kubernetes alone', () => {
  const [{ spec }] = Bun.YAML.parse(example('kubernetes.yaml')) as [
    { spec: { template: { spec: { enableServiceLinks?: boolean } } } },
  ];
  assert.is(spec.template.spec.enableServiceLinks, false);
});

test.run();
