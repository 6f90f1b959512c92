#!/usr/bin/env bun
import { version } from '../package.json' with { type: 'json' };
import { run } from '../src/cli/run.ts';

void run(process.argv.slice(2), version).then((status) => process.exit(status));
