#!/usr/bin/env bun
import { version } from '../package.json' with { type: 'json' };
import { beginWithServingPolicy } from '../src/app/engine/serving-policy.ts';

beginWithServingPolicy();
// Imported only now: the call above may restart the program, which would load all modules again.
void import('../src/cli/run.ts')
  .then(({ run }) => run(process.argv.slice(2), version))
  .then((status) => process.exit(status));
