/** The memory that a process may use, from the files of Linux control groups. */
import { totalmem } from 'node:os';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineMemory } from '../../../src/disk/machine-memory.ts';

const MACHINE = 16 * 2 ** 30;

const memoryWith = (files: Readonly<Record<string, string>>) =>
  machineMemory((path) => files[path] ?? null, MACHINE);

test('without control groups, the limit is the memory of the machine', () => {
  assert.is(memoryWith({}), MACHINE);
  assert.is(memoryWith({ '/proc/self/cgroup': '0::/\n' }), MACHINE);
});

test('a limit of control groups version 2 applies, whether of the group or of a parent', () => {
  const groups = { '/proc/self/cgroup': '0::/system.slice/catalog.service\n' };
  const root = '/sys/fs/cgroup';
  const own = `${root}/system.slice/catalog.service/memory.max`;
  const parent = `${root}/system.slice/memory.max`;
  assert.is(memoryWith({ ...groups, [own]: 'max\n' }), MACHINE);
  assert.is(memoryWith({ ...groups, [own]: '1073741824\n' }), 2 ** 30);
  assert.is(memoryWith({ ...groups, [own]: 'max\n', [parent]: '2147483648\n' }), 2 ** 31);
  assert.is(memoryWith({ '/proc/self/cgroup': '0::/\n', [`${root}/memory.max`]: '4096\n' }), 4096);
});

test('a limit of control groups version 1 applies', () => {
  const groups = { '/proc/self/cgroup': '8:pids:/x\n5:cpu,memory:/docker/1\n1:name=systemd:/\n' };
  const root = '/sys/fs/cgroup/memory';
  const own = `${root}/docker/1/memory.limit_in_bytes`;
  assert.is(memoryWith({ ...groups, [own]: '536870912\n' }), 2 ** 29);
  // How version 1 writes "no limit".
  assert.is(memoryWith({ ...groups, [own]: '9223372036854771712\n' }), MACHINE);
});

test('a limit applies to a group with colons in its name, as a unit of systemd may have', () => {
  const groups = { '/proc/self/cgroup': '0::/system.slice/catalog:eu:1.service\n' };
  const own = '/sys/fs/cgroup/system.slice/catalog:eu:1.service/memory.max';
  assert.is(memoryWith({ ...groups, [own]: '1073741824\n' }), 2 ** 30);
});

test('the limit on this machine is more than 0 and at most its memory', () => {
  const memory = machineMemory();
  assert.ok(memory > 0 && memory <= totalmem());
});

test.run();
