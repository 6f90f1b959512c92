/** What a worker does when the owner of the data directory has ended. */
import { test } from 'uvu';
import { OwnerLink } from '../../../../src/app/workers/owner-link.ts';

/** Node.js throws the error of a closed channel where nobody can catch it, unless it may call back. */
const closedChannel: NonNullable<typeof process.send> = (...args: readonly unknown[]) => {
  const callback = args.at(-1);
  const closed = new Error('Channel closed');
  if (typeof callback !== 'function') throw closed;
  queueMicrotask(() => callback(closed));
  return false;
};

test('messages to an owner that has ended are no fault of the worker: it ends soon', async () => {
  const { send } = process;
  const listeners = process.listeners('message');
  process.send = closedChannel;
  try {
    const link = new OwnerLink();
    link.send({ kind: 'alive' });
    await link.sent({ kind: 'alive' });
  } finally {
    if (send === undefined) delete process.send;
    else process.send = send;
    for (const listener of process.listeners('message')) {
      if (!listeners.includes(listener)) process.off('message', listener);
    }
  }
});

test.run();
