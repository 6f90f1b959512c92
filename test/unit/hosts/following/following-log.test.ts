import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FollowingLog } from '../../../../src/hosts/following/following-log.ts';

test('each time that a host stops to follow is reported, once, and so is its end', () => {
  const lines: string[] = [];
  const log = new FollowingLog({
    info: (message) => void lines.push(`info: ${message}`),
    warn: (message) => void lines.push(`warn: ${message}`),
  });
  log.following('https://primary');
  for (let outage = 1; outage <= 2; outage += 1) {
    log.trouble('it is down');
    log.trouble('it is down');
    log.following('https://primary');
  }
  log.following('https://primary');
  assert.equal(lines, [
    'info: following https://primary',
    'warn: it is down',
    'warn: following https://primary',
    'warn: it is down',
    'warn: following https://primary',
    'info: following https://primary',
  ]);
});

test.run();
