/** spec 15.25: a change of accounts or keys whose first response is lost. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../../src/disk/disk.ts';
import { CatalogError } from '../../../../src/errors.ts';
import { EtcdCredentials } from '../../../../src/hosts/cluster/etcd-credentials.ts';
import { transact } from '../../../../src/hosts/cluster/etcd-keys.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { outcomeOf } from '../../../support/failure.ts';
import { MemoryEtcd } from '../../../support/memory-etcd.ts';

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

test.run();
