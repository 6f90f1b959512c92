/** Variables that `serve` does not know and that are almost those of its flags (spec 8.3). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandFacts, inertProgram } from '../../../../release/program-facts.ts';
import { misspeltVariables } from '../../../../src/cli/flags/misspelt.ts';

const program = inertProgram();
const serve = program.commands.find((command) => command.name() === 'serve') ?? program;

function namedFor(name: string): readonly string[] {
  return misspeltVariables(serve, { [name]: 'yes', HOME: '/root' });
}

test('a variable that differs by a letter or two from that of a flag is named with it', () => {
  for (const [name, meant] of [
    ['CATALOG_PROTECT_BOOK', 'CATALOG_PROTECT_BOOKS'],
    ['CATALOG_CURENCY', 'CATALOG_CURRENCY'],
    ['CATALOG_TRUSTED_PROXY', 'CATALOG_TRUST_PROXY'],
    ['CATALOG_PUBLICURL', 'CATALOG_PUBLIC_URL'],
    ['CATALOG_JWT_SECRETS', 'CATALOG_JWT_SECRET'],
  ] as const) {
    assert.equal(namedFor(name), [
      `the variable ${name} has no effect; if you mean ${meant}, correct its name and restart`,
    ]);
  }
});

test('the variables of all commands, of Kubernetes and of other programs are not named', () => {
  const variables = commandFacts(program).flatMap(({ groups }) =>
    groups.flatMap(({ flags }) => flags.map(({ variable }) => variable ?? '')),
  );
  assert.ok(variables.length > 100);
  const others = [
    'CATALOG_SERVICE_HOST',
    'CATALOG_SERVICE_PORT',
    'CATALOG_PORT_8000_TCP',
    'CATALOG_PORT_8000_TCP_ADDR',
    'CATALOG_WORKER_PORT',
    'CATALOG_ID',
    'CATALOG_',
    'MY_CATALOG_CURENCY',
  ];
  for (const name of [...variables, ...others]) assert.equal(namedFor(name), [], name);
});

test.run();
