/** The application of `--metrics-port`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { operatorApplication } from '../../../src/app/operator.ts';
import { requestWith } from '../../support/request.ts';

test('/readyz is 503 if the server is not ready, and /metrics fails if the metrics cannot be read', async () => {
  const application = operatorApplication({
    readiness: () => 'the disk refused a write',
    readinessDetails: () => ({}),
    metrics: { type: 'text/plain', text: () => Promise.reject(new Error('no')) },
  });
  const { status, body } = await application(requestWith({ path: '/readyz' }));
  assert.equal([status, body], [503, '{"error":"not ready: the disk refused a write"}']);
  let failed = false;
  await Promise.resolve(application(requestWith({ path: '/metrics' }))).catch(() => {
    failed = true;
  });
  assert.ok(failed);
});

test.run();
