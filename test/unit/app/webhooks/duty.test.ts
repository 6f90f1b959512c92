/** spec 15.28: a host delivers only while it is the writer. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DeliveryDuty } from '../../../../src/app/webhooks/duty.ts';
import { messageOf } from '../../../../src/errors.ts';
import { until } from '../../../support/until.ts';

function open() {
  const world = {
    term: null as string | null,
    last: 5,
    has: 5,
    failure: null as unknown,
    startFailure: null as unknown,
    /** What every opening of the state waits for. */
    opening: Promise.resolve(),
    /** Whether a wait for a change set that is missing lasts until it is ended. */
    isWaiting: false,
  };
  const seen: string[] = [];
  const errors: string[] = [];
  const duty: DeliveryDuty = new DeliveryDuty({
    shared: {
      term: () => world.term,
      lastSequence: async () => world.last,
      storage: {
        async open(term) {
          seen.push(`open ${term}`);
          await world.opening;
          if (world.failure !== null) throw world.failure;
        },
        close: async () => void seen.push('close'),
      },
    },
    webhooks: {
      async start() {
        seen.push(duty.isOn() ? 'start' : 'start off duty');
        if (world.startFailure !== null) throw world.startFailure;
      },
      stop: async (grace) => void seen.push(`stop ${grace}`),
    },
    arrivals: {
      async past(after, milliseconds, signal) {
        if (world.isWaiting) {
          seen.push(`wait ${milliseconds}`);
          await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        }
        return world.has > after;
      },
    },
    onError: (error) => void errors.push(messageOf(error)),
    intervalMs: 1,
  });
  duty.start();
  const told = (length: number) => until(`${length} things are seen`, () => seen.length >= length);
  return { duty, world, seen, errors, told };
}

test('a host that becomes the writer opens the state of deliveries and starts to deliver', async () => {
  const { duty, world, seen, told } = open();
  assert.not.ok(duty.isOn());
  world.term = '7';
  await told(2);
  assert.ok(duty.isOn());
  await duty.close(2000);
  assert.equal(seen, ['open 7', 'start', 'stop 2000', 'close']);
});

test('when the term ends, deliveries stop without a grace period and their state is closed', async () => {
  const { duty, world, seen, told } = open();
  world.term = '7';
  await told(2);
  world.term = null;
  assert.not.ok(duty.isOn(), 'at once');
  await told(4);
  assert.equal(seen.slice(2), ['stop 0', 'close']);
  await duty.close(2000);
  assert.is(seen.length, 4);
});

test('in a new term the state of deliveries is opened again, since another host may have delivered', async () => {
  const { duty, world, seen, told } = open();
  world.term = '7';
  await told(2);
  world.term = '9';
  assert.not.ok(duty.isOn());
  await told(6);
  assert.equal(seen.slice(2), ['stop 0', 'close', 'open 9', 'start']);
  await duty.close(0);
});

test('deliveries do not start until the host has every change set of the log', async () => {
  const { duty, world, seen, errors, told } = open();
  world.has = 4;
  world.term = '7';
  await until('it says so', () => errors.length > 0);
  assert.equal(seen, []);
  world.has = 5;
  await told(2);
  assert.equal(errors, ['this host lacks change set 5 of the log']);
  await duty.close(0);
});

test('a failure to open the state is reported once, and opening is tried again', async () => {
  const { duty, world, seen, errors } = open();
  world.failure = new Error('etcd does not answer');
  world.term = '7';
  await until('it has tried some times', () => seen.length >= 3);
  assert.equal(errors, ['etcd does not answer']);
  assert.not.ok(duty.isOn());
  world.failure = null;
  await until('it delivers', () => duty.isOn());
  await duty.close(0);
});

test('if deliveries cannot start, that is reported, the state is closed, and it is tried again', async () => {
  const { duty, world, seen, errors, told } = open();
  world.startFailure = new Error('the state is not readable');
  world.term = '7';
  await told(8);
  assert.equal(seen.slice(0, 6), ['open 7', 'start', 'stop 0', 'close', 'open 7', 'start']);
  assert.equal(errors, ['the state is not readable']);
  world.startFailure = null;
  await until('it delivers', () => duty.isOn() && seen.at(-1) === 'start');
  await duty.close(0);
});

test('closing ends the wait for change sets, which is bounded, and no failure is reported', async () => {
  const { duty, world, seen, errors, told } = open();
  world.has = 4;
  world.isWaiting = true;
  world.term = '7';
  await told(1);
  await duty.close(2000);
  assert.equal(seen, ['wait 5000']);
  assert.equal(errors, []);
});

test('closing ends deliveries that are just about to start', async () => {
  const { duty, world, seen, told } = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.opening = promise;
  world.term = '7';
  await told(1);
  const closed = duty.close(2000);
  resolve();
  await closed;
  assert.equal(seen, ['open 7', 'start', 'stop 2000', 'close']);
});

test.run();
