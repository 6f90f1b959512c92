/** docs/operations.md: at which level a response is logged. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { levelOf } from '../../../src/telemetry/requests.ts';

test('a response is logged as an error only if it is a fault of the server', () => {
  for (const status of [200, 304, 400, 404, 431, 503]) assert.is(levelOf(status), 'info');
  for (const status of [500, 501, 502]) assert.is(levelOf(status), 'error');
});

test.run();
