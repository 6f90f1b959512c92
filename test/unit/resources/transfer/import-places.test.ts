/** The bounds of uploads and of unfinished imports, for all and for one subject (spec 12.6). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ImportPlaces,
  MAX_OF_EACH,
  MAX_OF_SUBJECT,
  type Origin,
  type Place,
} from '../../../../src/resources/transfer/import-places.ts';
import { turn } from '../../../support/turns.ts';

const isKept = async () => false;

function begin(places: ImportPlaces, subject: string, origin: Origin = 'request'): Promise<Place> {
  return places.take({ subject, origin, name: null, isKept });
}

/** Imports of one subject whose files are arriving. */
function uploads(places: ImportPlaces, subject: string): Promise<Place[]> {
  return Promise.all(Array.from({ length: MAX_OF_SUBJECT }, () => begin(places, subject)));
}

/** Imports of one subject whose files have arrived. */
async function waiting(places: ImportPlaces, subject: string): Promise<Place[]> {
  const taken: Place[] = [];
  for (let nth = 0; nth < MAX_OF_SUBJECT; nth += 1) {
    const place = await begin(places, subject);
    assert.is(await place.arrived(), null);
    taken.push(place);
  }
  return taken;
}

/** The message with which the next import of a subject is refused; null if it gets a place. */
async function refusalOf(places: ImportPlaces, subject: string): Promise<string | null> {
  try {
    (await begin(places, subject)).free();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

test('an import takes a place among the unfinished ones when its file has arrived', async () => {
  const places = new ImportPlaces();
  const slow = await uploads(places, 'ann');
  assert.match((await refusalOf(places, 'ann')) ?? '', /^8 of your uploads are not finished/);
  for (const place of slow) assert.is(await place.arrived(), null);
  assert.match((await refusalOf(places, 'ann')) ?? '', /^8 of your imports are not finished/);
  const others = await waiting(places, 'bob');
  assert.is(slow.length + others.length, MAX_OF_EACH);
  assert.match((await refusalOf(places, 'carol')) ?? '', /^16 imports are not finished/);
  for (const place of slow) place.free();
  assert.is(await refusalOf(places, 'carol'), null);
  assert.is(await refusalOf(places, 'ann'), null);
});

test('a file that arrives when there is no more room is refused, and gives its place back once', async () => {
  const places = new ImportPlaces();
  const slow = await begin(places, 'ann');
  const [first] = await waiting(places, 'ann');
  assert.match((await slow.arrived())?.message ?? '', /^8 of your imports are not finished/);
  slow.free();
  slow.free();
  first?.free();
  await uploads(places, 'ann');
  assert.match((await refusalOf(places, 'ann')) ?? '', /^8 of your uploads/);
});

test('a request is taken for a repeated one only as long as an earlier one with its key is open', async () => {
  const places = new ImportPlaces();
  const named = () => places.take({ subject: 'ann', origin: 'request', name: 'key', isKept });
  const [first, second] = [await named(), await named()];
  first.answered();
  first.free();
  for (const subject of ['ann', 'bob']) {
    for (let nth = subject === 'ann' ? 1 : 0; nth < MAX_OF_SUBJECT; nth += 1) {
      await begin(places, subject);
    }
  }
  const repeated = await named();
  let hasArrived = false;
  const arriving = repeated.arrived().then(() => (hasArrived = true));
  await turn();
  assert.is(hasArrived, false, 'it waits for the second one');
  second.answered();
  await arriving;
  repeated.answered();
  repeated.free();
  await named().then(
    () => assert.unreachable('no request with the key is open'),
    (error: Error) => assert.match(error.message, /^8 of your uploads are not finished/),
  );
});

test('commands have a place of their own, one at a time', async () => {
  const places = new ImportPlaces();
  for (const subject of ['ann', 'bob']) await waiting(places, subject);
  assert.is(places.isFullForCommands, false);
  const place = await begin(places, 'cli:ann', 'command');
  assert.is(await place.arrived(), null);
  assert.is(places.isFullForCommands, true);
  await begin(places, 'cli:bob', 'command').then(
    () => assert.unreachable('there is one place'),
    (error: Error) => assert.match(error.message, /imports of commands/),
  );
  place.free();
  assert.is(places.isFullForCommands, false);
});

test.run();
