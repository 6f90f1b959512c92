/** spec 15.25: changes of accounts or keys whose first response is lost, and damaged copies. */
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AccessDraft,
  accessPath,
  changeAccess,
  readAccess,
} from '../../../../src/auth/access.ts';
import { addAccount } from '../../../../src/auth/accounts.ts';
import { PrivateFiles, privateFilesIn } from '../../../../src/auth/backup/private-files.ts';
import { keysPath, loadKeys, readKeys } from '../../../../src/auth/keys.ts';
import { type Disk, machineDisk } from '../../../../src/disk/disk.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { EtcdCredentials } from '../../../../src/hosts/cluster/etcd-credentials.ts';
import { transact } from '../../../../src/hosts/cluster/etcd-keys.ts';
import type { Clocks } from '../../../../src/hosts/following/confirmation.ts';
import { accountOf } from '../../../support/credentials.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { codeOf, failureMessage, outcomeOf } from '../../../support/failure.ts';
import { MemoryEtcd } from '../../../support/memory-etcd.ts';
import { turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';

/**
 * A host that changes its accounts while etcd carries out the first request without a response.
 *
 * @param meanwhile what happens in etcd before the host sends it again.
 */
async function change(meanwhile: (client: MemoryEtcd) => Promise<unknown>): Promise<string> {
  const client = new MemoryEtcd();
  const directory = temporaryDirectory();
  const onError = (error: unknown) => {
    throw error;
  };
  const credentials = new EtcdCredentials({ client, disk: machineDisk, directory, onError });
  const call = client.call.bind(client);
  client.call = async (path, body) => {
    await call(path, body);
    client.call = call;
    await meanwhile(client);
    throw new CatalogError('log_unavailable', 'the connection is lost');
  };
  const file = { path: join(directory, 'access.json'), code: 'access_file' } as const;
  return outcomeOf(credentials.push(file, { users: 'ann' }));
}

test('it is made once if nothing else has changed', async () => {
  assert.is(await change(async () => {}), 'done');
});

test('its outcome is unknown if another host has changed accounts since', async () => {
  const value = '{"access.json":{"users":"ann, bob"}}';
  const code = await change((client) => transact(client, [], [{ put: 'credentials', value }]));
  assert.is(code, 'write_unknown');
});

test('if etcd refuses it, the error gives the reason of etcd', async () => {
  const client = new MemoryEtcd();
  const reason = "etcd's quota is used up";
  let attempts = 0;
  client.call = async () => {
    attempts += 1;
    throw new CatalogError('log_unavailable', reason);
  };
  const { credentials, access } = hostOf(client);
  const pushed = credentials.push({ path: access, code: 'access_file' }, ACCESS);
  const message = await failureMessage(pushed, 'write_unknown');
  assert.match(message, `${reason}; the change of accounts or keys may still take effect`);
  assert.is(attempts, 3);
});

test('if another host was first, nothing is changed', async () => {
  const client = new MemoryEtcd();
  await put(client, { 'access.json': ACCESS });
  const { credentials, access } = hostOf(client);
  await credentials.pull();
  const other = await contentsWith('ann');
  await put(client, other);
  const pushed = credentials.push({ path: access, code: 'access_file' }, ACCESS);
  assert.is(await codeOf(pushed), 'busy');
  assert.equal(JSON.parse(client.values['credentials'] ?? ''), other);
});

test('accounts and keys of more than 1 MiB in UTF-8 are refused, and nothing is changed', async () => {
  const client = new MemoryEtcd();
  const { credentials, access } = hostOf(client);
  const push = (bytes: number) => {
    const empty = Buffer.byteLength(JSON.stringify({ 'access.json': { users: '' } }));
    const users = 'é'.repeat((bytes - empty) / 2);
    return credentials.push({ path: access, code: 'access_file' }, { users });
  };
  const message = await failureMessage(push(2 ** 20 + 2), 'access_file');
  assert.match(message, 'take at most 1048576 bytes, and would take 1048578; nothing was changed');
  const { found } = await transact(client, [], [{ get: 'credentials' }]);
  assert.equal(found, [[]]);
  await push(2 ** 20);
});

test('a host whose own accounts and keys are more than 1 MiB does not make them the original', async () => {
  const client = new MemoryEtcd();
  const { credentials, access } = hostOf(client);
  await changeAccess(quickDisk, dirname(access), ({ tokens }) => {
    for (let nth = 0; nth < 20_000; nth += 1) tokens.set(`${nth}`.padStart(40, '0'), null);
  });
  const opened = credentials.open(async () => {});
  assert.match(await failureMessage(opened, 'access_file'), 'take at most 1048576 bytes');
  await credentials.close();
  assert.equal(client.values, {});
});

function fail(error: unknown): void {
  throw error;
}

/** A host without files of its own. */
function hostOf(client: MemoryEtcd, clocks?: Clocks, onError = fail) {
  const directory = temporaryDirectory();
  const credentials = new EtcdCredentials({ client, disk: quickDisk, directory, onError, clocks });
  return { credentials, access: accessPath(directory) };
}

const put = (client: MemoryEtcd, contents: object) =>
  transact(client, [], [{ put: 'credentials', value: JSON.stringify(contents) }]);

const ACCESS = { users: [], revoked_subjects: [], revoked_tokens: [] };

const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  'is not JSON': (path) => writeFileSync(path, '', { mode: 0o600 }),
  'has another content than its checksum': (path) =>
    writeFileSync(path, readFileSync(path, 'utf8').replace('revoked_tokens', 'revoked_token')),
  'may be read by others': (path) => chmodSync(path, 0o644),
};

for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`a copy that ${what} is replaced by the original`, async () => {
    const client = new MemoryEtcd();
    await put(client, { 'access.json': ACCESS });
    const { credentials, access } = hostOf(client);
    await credentials.pull();
    damage(access);
    assert.throws(() => readAccess(access));
    await credentials.pull();
    assert.is(readAccess(access)?.users.size, 0);
  });

  test(`accounts whose file ${what} do not become the original`, async () => {
    const client = new MemoryEtcd();
    const { credentials, access } = hostOf(client);
    await changeAccess(quickDisk, dirname(access), (draft) => addAccount(draft, accountOf('ann')));
    damage(access);
    assert.is(await codeOf(credentials.open(async () => {})), 'access_file');
    await credentials.close();
    assert.equal(client.values, {});
  });
}

/** The files of a host with these accounts. */
async function contentsWith(...names: string[]): Promise<object> {
  const directory = temporaryDirectory();
  await changeAccess(quickDisk, directory, (draft) => {
    for (const name of names) addAccount(draft, accountOf(name));
  });
  return privateFilesIn(new PrivateFiles(directory).read());
}

test('a host with accounts of its own does not start if the others have none', async () => {
  const client = new MemoryEtcd();
  const { credentials, access } = hostOf(client);
  await loadKeys(dirname(access), undefined);
  await credentials.open(async () => {});
  await credentials.close();
  const other = hostOf(client);
  const folder = dirname(other.access);
  await changeAccess(quickDisk, folder, (draft) => addAccount(draft, accountOf('ann')));
  const message = await failureMessage(
    other.credentials.open(async () => {}),
    'access_file',
  );
  assert.match(message, `${other.access} has accounts or revocations, and the hosts`);
  await other.credentials.close();
  rmSync(other.access);
  await other.credentials.open(async () => {});
  await other.credentials.close();
});

test('a host starts with an empty file of accounts although the others have none', async () => {
  const client = new MemoryEtcd();
  const { credentials, access } = hostOf(client);
  await loadKeys(dirname(access), undefined);
  await credentials.open(async () => {});
  await credentials.close();
  const formerFollower = hostOf(client);
  await changeAccess(quickDisk, dirname(formerFollower.access), () => {});
  assert.is(readAccess(formerFollower.access)?.users.size, 0);
  await formerFollower.credentials.open(async () => {});
  await formerFollower.credentials.close();
});

test('a change after etcd has lost the original makes one with all files of the host', async () => {
  const client = new MemoryEtcd();
  const { credentials, access } = hostOf(client);
  await loadKeys(dirname(access), undefined);
  await credentials.pull();
  await credentials.push({ path: access, code: 'access_file' }, ACCESS);
  const original = JSON.parse(client.values['credentials'] ?? '') as object;
  assert.equal(Object.keys(original).sort(), ['access.json', 'keys.json']);
});

/** A host that has copied an account from etcd, and an etcd that can be set back to that state. */
async function withSnapshot({ clocks, onError }: { clocks?: Clocks; onError?: typeof fail } = {}) {
  const [client, snapshot] = [new MemoryEtcd(), new MemoryEtcd()];
  const contents = await contentsWith('ann');
  for (const etcd of [client, snapshot]) await put(etcd, contents);
  const { credentials, access } = hostOf(client, clocks, onError);
  await credentials.pull();
  let asked = 0;
  /** @param silent the request that is not answered, counted from 1. */
  const setBack = (silent = 0) => {
    client.call = async (path, body) => {
      asked += 1;
      if (asked === silent) throw new CatalogError('log_unavailable', 'etcd does not answer');
      return snapshot.call(path, body);
    };
  };
  const names = () => [...(readAccess(access)?.users.keys() ?? [])];
  return { credentials, access, client, setBack, names, asked: () => asked };
}

test('two hosts that make keys at the same time start with the same ones', async () => {
  const client = new MemoryEtcd();
  const hosts = [hostOf(client), hostOf(client)];
  const keys = await Promise.all(
    hosts.map(async ({ credentials, access }) => {
      const directory = dirname(access);
      await credentials.open(async () => void (await loadKeys(directory, undefined)));
      credentials.requireConfirmed();
      return readKeys(keysPath(directory));
    }),
  );
  await Promise.all(hosts.map(({ credentials }) => credentials.close()));
  assert.ok(keys[0]);
  assert.equal(keys[0], keys[1]);
});

test('if etcd is set back, its older accounts replace no copy', async () => {
  const { credentials, client, setBack, names } = await withSnapshot();
  await put(client, await contentsWith('ann', 'bob'));
  await credentials.pull();
  setBack();
  const message = await failureMessage(credentials.pull(), 'log_unavailable');
  assert.match(message, 'etcd was set back to an earlier state; nothing was changed');
  assert.equal(names(), ['ann', 'bob']);
});

test('if etcd is set back right after a change of a host, its copy keeps the change', async () => {
  const { credentials: shared, access, setBack, names } = await withSnapshot();
  const add = (draft: AccessDraft) => addAccount(draft, accountOf('bob'));
  await changeAccess(quickDisk, dirname(access), add, { shared });
  setBack();
  assert.is(await codeOf(shared.pull()), 'log_unavailable');
  assert.equal(names(), ['ann', 'bob']);
});

test('if etcd is set back to the state before a change of a host, that state confirms nothing', async () => {
  let time = 0;
  const errors: unknown[] = [];
  const { credentials, access, setBack, asked } = await withSnapshot({
    clocks: () => ({ monotonic: time, wall: 0 }),
    onError: (error) => void errors.push(error),
  });
  await credentials.open(async () => {});
  // The host has copied the state before, and has not asked since its change.
  await credentials.push({ path: access, code: 'access_file' }, ACCESS);
  time = 10_001;
  setBack();
  await until('it was asked twice', () => asked() > 1);
  assert.throws(() => credentials.requireConfirmed(), /have not been confirmed for 10 seconds/);
  await until('it is reported', () => errors.length > 0);
  await credentials.close();
  assert.match(errors.join(), 'are older than those of this host');
});

test('an answer is not older because a later request was answered first', async () => {
  const client = new MemoryEtcd();
  await put(client, await contentsWith('ann'));
  const { credentials } = hostOf(client);
  await credentials.pull();
  const call = client.call.bind(client);
  const later = Promise.withResolvers<void>();
  client.call = async (path, body) => {
    client.call = call;
    const response = await call(path, body);
    await later.promise;
    return response;
  };
  const first = outcomeOf(credentials.pull());
  await turn();
  await put(client, await contentsWith('ann', 'bob'));
  await credentials.pull();
  later.resolve();
  assert.is(await first, 'done');
});

test('after etcd has lost its data, the original of another host counts, although its revision is lower', async () => {
  const { credentials, client, names } = await withSnapshot();
  await put(client, await contentsWith('ann', 'bob'));
  await credentials.pull();
  const empty = new MemoryEtcd();
  client.call = (path, body) => empty.call(path, body);
  await credentials.pull();
  assert.equal(names(), ['ann', 'bob']);
  await put(empty, await contentsWith('ann'));
  await credentials.pull();
  assert.equal(names(), ['ann']);
});

test('older accounts in etcd are reported once, also after a silence, and confirm nothing', async () => {
  let time = 0;
  const errors: unknown[] = [];
  const { credentials, client, setBack, asked } = await withSnapshot({
    clocks: () => ({ monotonic: time, wall: 0 }),
    onError: (error) => void errors.push(error),
  });
  await put(client, await contentsWith('ann', 'bob'));
  await credentials.open(async () => {});
  time = 10_001;
  // A request of each second shows another revision, and the next one is for the files.
  setBack(2);
  await until('it was asked several times', () => asked() > 6);
  assert.throws(() => credentials.requireConfirmed(), /have not been confirmed for 10 seconds/);
  await credentials.close();
  assert.is(errors.length, 2, errors.join('\n'));
  assert.match(errors.join('\n'), /etcd does not answer\n.* are older than those of this host/);
});

test('while the disk refuses a copy, that is reported once', async () => {
  const client = new MemoryEtcd();
  const directory = temporaryDirectory();
  const errors: unknown[] = [];
  let isFull = false;
  let refused = 0;
  const disk: Disk = {
    ...quickDisk,
    async publish(job) {
      if (!isFull) return quickDisk.publish(job);
      refused += 1;
      return { code: 'ENOSPC', message: 'ENOSPC: no space left', reached: 'nothing' };
    },
  };
  const onError = (error: unknown) => void errors.push(error);
  const credentials = new EtcdCredentials({ client, disk, directory, onError });
  await credentials.open(async () => {});
  for (const names of [['ann'], ['ann', 'bob']]) {
    const contents = await contentsWith(...names);
    isFull = true;
    refused = 0;
    for (let tries = 1; tries <= 3; tries += 1) {
      // A change of the key makes the host try again at once.
      await put(client, contents);
      await until('the disk has refused the copy', () => refused >= tries);
    }
    isFull = false;
    await put(client, contents);
    const path = accessPath(directory);
    await until('the copy is written', () => readAccess(path)?.users.size === names.length);
  }
  await credentials.close();
  assert.is(errors.length, 2, errors.join('\n'));
});

test('if a file of the original is invalid, no copy is replaced', async () => {
  const client = new MemoryEtcd();
  await put(client, { 'access.json': ACCESS });
  const { credentials, access } = hostOf(client);
  await credentials.pull();
  const before = readFileSync(access, 'utf8');
  const changed = await contentsWith('ann');
  await put(client, { ...changed, 'keys.json': { keys: [] } });
  assert.is(await codeOf(credentials.pull()), 'key_file');
  assert.is(readFileSync(access, 'utf8'), before);
  await put(client, changed);
  await credentials.pull();
  assert.is(readAccess(access)?.users.size, 1);
});

test('accounts that do not change are confirmed again and again', async () => {
  const client = new MemoryEtcd();
  await put(client, { 'access.json': ACCESS });
  let [time, asked] = [0, 0];
  const { credentials } = hostOf(client, () => ({ monotonic: time, wall: 0 }));
  await credentials.open(async () => {});
  time = 9000;
  const call = client.call.bind(client);
  client.call = (path, body) => {
    asked += 1;
    return call(path, body);
  };
  // The first one may have been sent before.
  await until('it has asked twice', () => asked > 1);
  time = 18_000;
  await until('an answer counts', () => {
    try {
      credentials.requireConfirmed();
      return true;
    } catch {
      return false;
    }
  });
  await credentials.close();
});

test('a confirmation counts from when it was asked for, however late the response is', async () => {
  const client = new MemoryEtcd();
  await put(client, { 'access.json': ACCESS });
  let [time, answers] = [0, 0];
  const { credentials } = hostOf(client, () => ({ monotonic: time, wall: 0 }));
  const call = client.call.bind(client);
  client.call = async (path, body) => {
    const response = await call(path, body);
    time += 10_001;
    answers += 1;
    return response;
  };
  await credentials.open(async () => {});
  // The first is that of the start, and the last may not have arrived yet.
  await until('there were some answers', () => answers > 2);
  assert.throws(() => credentials.requireConfirmed(), /have not been confirmed for 10 seconds/);
  await credentials.close();
});

test.run();
