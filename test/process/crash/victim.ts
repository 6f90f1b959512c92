#!/usr/bin/env bun
/**
 * The real program, on a disk that kills the process with SIGKILL right before, amid or right
 * after a named step, or records its steps. steps.ts passes the orders in `VICTIM`.
 */
import fs from 'node:fs';
import { version } from '../../../package.json' with { type: 'json' };
import { run } from '../../../src/cli/run.ts';
import { stepDisk } from './step-disk.ts';
import type { Orders } from './steps.ts';

const orders = JSON.parse(process.env['VICTIM'] ?? '') as Orders;
let passed = 0;

const disk = stepDisk(orders.data, orders.backup, (side, step) => {
  if (orders.trace !== undefined) {
    if (side === 'before') fs.appendFileSync(orders.trace, `${step}\n`);
    return;
  }
  const { death } = orders;
  if (death === undefined || step !== death.step) return;
  if (side === 'before') passed += 1;
  if (passed !== death.nth || side !== death.side) return;
  // Not through a stream, which would not be flushed before the kill.
  fs.writeSync(2, `died ${side} ${step}\n`);
  process.kill(process.pid, 'SIGKILL');
});

void run(process.argv.slice(2), version, { disk }).then((status) => process.exit(status));
