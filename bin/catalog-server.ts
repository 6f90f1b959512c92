#!/usr/bin/env bun
import { version } from '../package.json' with { type: 'json' };
import { run } from '../src/cli/program.ts';

void run(process.argv.slice(2), process.env, version).then((status) => process.exit(status));
