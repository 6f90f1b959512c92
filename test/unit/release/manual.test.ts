/** The manual page and docs/reference.md agree with the program. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { manualPage } from '../../../release/manual.ts';
import { commandFacts, inertProgram } from '../../../release/program-facts.ts';
import { referencePage } from '../../../release/reference.ts';
import { ROOT } from '../../support/paths.ts';

const FACTS = commandFacts(inertProgram());

test('the facts contain the commands, their flags in groups, and their examples', () => {
  const names = new Set(FACTS.map(({ name }) => name));
  for (const name of ['serve', 'users add', 'completion']) assert.ok(names.has(name), name);
  const serve = FACTS.find(({ name }) => name === 'serve');
  const limits = serve?.groups.find(({ heading }) => heading === 'Limits');
  assert.equal(limits?.flags[0], {
    usage: '--max-body <size>',
    description: 'largest body of a request',
    choices: [],
    default: '1MiB',
    variable: 'CATALOG_MAX_BODY',
  });
  assert.match(serve?.notes ?? '', 'catalog-server serve --host 0.0.0.0');
});

test('the manual page contains every command and flag, and its date and version', () => {
  const page = manualPage(inertProgram(), '1.2.3', '2026-11-22');
  assert.match(page, '.TH CATALOG-SERVER 1 "2026-11-22" "catalog-server 1.2.3"');
  for (const { name, groups } of FACTS) {
    assert.ok(page.includes(`.SS ${name.replaceAll('-', '\\-')}\n`), name);
    for (const { usage } of groups.flatMap(({ flags }) => flags)) {
      assert.ok(page.includes(`.B ${usage.replaceAll('-', '\\-')}\n`), `${name} ${usage}`);
    }
  }
});

test('no line of text in the manual page can be read as a roff request', () => {
  const known = /^\.(?:TH|SH|SS|PP|TP|B|I|RI|nf|fi)(?: |$)/;
  const page = manualPage(inertProgram(), '1.2.3', '2026-11-22');
  for (const line of page.split('\n')) {
    assert.ok(!/^[.']/.test(line) || known.test(line), line);
    assert.not.match(line, /\\(?![-e&])/);
  }
});

test('docs/reference.md is the output of `bun bin/reference.ts`', () => {
  const committed = readFileSync(join(ROOT, 'docs', 'reference.md'), 'utf8');
  assert.is(committed, referencePage(inertProgram()), 'run: bun bin/reference.ts');
});

test.run();
