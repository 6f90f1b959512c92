#!/usr/bin/env bun
import { version } from '../package.json' with { type: 'json' };
import { beginWithServingPolicy } from '../src/app/engine/serving-policy.ts';

beginWithServingPolicy();
// Not before: all modules of the program would be loaded twice.
void import('../src/cli/run.ts')
  .then(({ run }) => run(process.argv.slice(2), version))
  .then((status) => process.exit(status));
