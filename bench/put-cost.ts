/**
 * What a PUT of a SKU costs without HTTP and the disk: `bun bench/put-cost.ts [SKUS] [WRITERS]`.
 *
 * Writers put SKUs of a filled store by the program's use case, over a disk that takes every change
 * set at once. So the figure is the CPU time of checks, transaction, audit trail, representation,
 * encoding and indexes, of the thread that serves. The lowest figure of many short rounds is the
 * one that other programs on the machine have disturbed least.
 */
import { join } from 'node:path';
import { machineDisk } from '../src/disk/disk.ts';
import { KINDS } from '../src/model/kinds.ts';
import { AuditedStore } from '../src/resources/audit/audited-store.ts';
import { Records } from '../src/resources/records.ts';
import { Store } from '../src/store/store.ts';
import { fill, inDirectory, quantile } from './server.ts';
import { categoriesOf, choicesOf, nameOf, spuOf, spusFor } from './shape.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const WRITERS = Number(process.argv[3] ?? 64);
const ROUNDS = 24;
const PUTS_A_ROUND = 4000;

/** PUTs after the start. Their cost is printed together with that of the compilers. */
const FIRST = 10_000;

/** PUTs between those and the first round, until the engine has compiled the code that they run. */
const WARM_UP = 30_000;

/** Park and Miller's generator, so that every run puts the same. */
let state = 1;
function draw(count: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return state % count;
}

function fail(error: unknown): never {
  throw error;
}

/** A body as the load of bench/requests.lua sends it. */
function bodyOf(id: number): string {
  const spu = spuOf(id, spusFor(SKUS));
  const price = draw(899_000) + 1000;
  return JSON.stringify({
    name: nameOf(id),
    spu_id: spu,
    caption: 'Made for measuring',
    category_id: categoriesOf(spu)[2],
    price,
    cost_price: Math.floor(price / 2),
    market_price: Math.floor(price * 1.1),
    stock: draw(1000),
    is_launched: true,
    specs: choicesOf(id, spu).map(({ spec, option }) => ({ spec_id: spec, option_id: option })),
  });
}

void inDirectory(async (directory) => {
  const data = join(directory, 'data');
  fill(data, SKUS);
  const store = await Store.open({
    directory: data,
    command: 'bench',
    create: false,
    disk: { ...machineDisk, publish: async () => null },
    // A checkpoint is work of its own: `bun bench/checkpoint.ts`.
    smallestCheckpoint: Number.POSITIVE_INFINITY,
    onError: fail,
    onFatal: fail,
  });
  await store.completeIndexes();
  const records = new Records(new AuditedStore(store));
  let left = 0;
  const write = async () => {
    while (left > 0) {
      left -= 1;
      const id = draw(SKUS) + 1;
      const address = { kind: KINDS.skus, parent: null };
      await records.update(address, id, 'whole', JSON.parse(bodyOf(id)), null, 'bench');
    }
  };
  const run = (puts: number) => {
    left = puts;
    return Promise.all(Array.from({ length: WRITERS }, write));
  };
  const started = process.cpuUsage();
  await run(FIRST);
  const first = process.cpuUsage(started);
  await run(WARM_UP);
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = process.threadCpuUsage();
    await run(PUTS_A_ROUND);
    const { user, system } = process.threadCpuUsage(begun);
    costs.push((user + system) / PUTS_A_ROUND);
  }
  costs.sort((a, b) => a - b);
  const [least, median] = [costs[0] ?? Number.NaN, quantile(costs, 0.5)];
  process.stdout.write(
    `${WRITERS} writers, ${SKUS} SKUs: ${least.toFixed(1)} us of CPU a PUT at least, ${median.toFixed(1)} at the median\n` +
      `the first ${FIRST}: ${((first.user + first.system) / 1e6).toFixed(2)} s of CPU of all threads\n`,
  );
});
