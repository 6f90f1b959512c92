import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Forwarder } from '../../../../src/hosts/forwarding/forwarder.ts';
import { failureOf } from '../../../support/failure.ts';
import { requestWith } from '../../../support/request.ts';

test('spec 15.11: a request that has passed this host is not forwarded again', async () => {
  const forwarder = new Forwarder({ maxOpen: 1 });
  const headers = { via: `1.1 ${forwarder.pseudonym}` };
  const request = requestWith({ method: 'PUT', path: '/books/1/', headers });
  const { code, message } = await failureOf(forwarder.forward(request, 'http://127.0.0.1:1'));
  assert.is(code, 'primary_unreachable');
  assert.match(message, 'in a loop');
});

test.run();
