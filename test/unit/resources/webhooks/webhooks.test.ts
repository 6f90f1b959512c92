/** spec 15.28: deliveries begin while clients already change webhooks. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AuditedStore } from '../../../../src/resources/audit/audited-store.ts';
import { ChangeSource } from '../../../../src/resources/changes/change-source.ts';
import { DeliveryState } from '../../../../src/resources/webhooks/delivery-state.ts';
import type { DeliveryStorage, Webhook } from '../../../../src/resources/webhooks/ports.ts';
import { Webhooks } from '../../../../src/resources/webhooks/webhooks.ts';
import type { Store } from '../../../../src/store/store.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { openQuickStore } from '../../../support/quick-store.ts';
import { until } from '../../../support/until.ts';
import { NO_STORAGE, ONE_SECRET, WEBHOOK } from '../../../support/webhooks.ts';

/** Deliveries from a store to a receiver that accepts everything. */
function deliveries(
  store: Store,
  storage: Partial<DeliveryStorage>,
  answer = async (_url: string) => 204,
) {
  const told: string[] = [];
  const errors: unknown[] = [];
  const warnings: string[] = [];
  const webhooks = new Webhooks({
    audited: new AuditedStore(store),
    source: new ChangeSource(store),
    secrets: ONE_SECRET,
    storage: { ...NO_STORAGE, ...storage },
    send: async ({ url, body }) => {
      const status = await answer(url);
      if (status !== 204) return status;
      const { data } = JSON.parse(body) as { data: { after: { name: string } }[] };
      told.push(...data.map(({ after }) => after.name));
      return 204;
    },
    isOnDuty: () => true,
    warn: (message) => void warnings.push(message),
    onError: (error) => void errors.push(error),
  });
  return { webhooks, told, errors, warnings };
}

const create = (store: Store, name: string) =>
  store.transact((transaction) => {
    const id = transaction.nextId('brands');
    transaction.put('brands', { id, name, logo: '', first_letter: 'A' });
  });

const put = (store: Store, webhook: Webhook) =>
  store.transact((transaction) => transaction.put('webhooks', webhook));

test('a webhook that is changed while deliveries begin continues where they were', async () => {
  const store = await openQuickStore(temporaryDirectory());
  await store.transact((transaction) =>
    transaction.put('webhooks', { ...WEBHOOK, id: transaction.nextId('webhooks') }),
  );
  await create(store, 'Delivered');
  const { text } = new DeliveryState(store.sequence);
  const removal = Promise.withResolvers<void>();
  const { webhooks, told } = deliveries(store, {
    load: () => text,
    // The state of a webhook that was deleted while no host delivered.
    ids: () => [9],
    forget: () => removal.promise,
  });
  const started = webhooks.start();
  await put(store, { ...WEBHOOK, resources: '["brands"]' });
  await create(store, 'New');
  removal.resolve();
  await started;
  await until('it is delivered', () => told.includes('New'));
  await webhooks.stop(0);
  await store.close();
  assert.equal(told, ['New']);
});

test('a state that cannot be removed is reported, and deliveries begin', async () => {
  const store = await openQuickStore(temporaryDirectory());
  const { webhooks, told, errors } = deliveries(store, {
    ids: () => [9],
    forget: () => Promise.reject(new Error('the log does not answer')),
  });
  await webhooks.start();
  await put(store, WEBHOOK);
  await create(store, 'New');
  await until('it is delivered', () => told.includes('New'));
  await webhooks.stop(0);
  await store.close();
  assert.equal(errors.map(String), ['Error: the log does not answer']);
});

test('a 410 of a former address is ignored', async () => {
  const store = await openQuickStore(temporaryDirectory());
  const url = 'https://new.example/';
  const { webhooks, told, warnings } = deliveries(store, {}, async (address) => {
    if (address === url) return 204;
    await put(store, { ...WEBHOOK, url });
    return 410;
  });
  await webhooks.start();
  await put(store, WEBHOOK);
  await create(store, 'New');
  await until('it is delivered', () => told.includes('New'));
  await webhooks.stop(0);
  assert.is(store.get('webhooks', 1)?.active, true);
  assert.equal(warnings, []);
  await store.close();
});

test.run();
