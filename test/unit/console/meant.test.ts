/** Which choice a text means that was typed into a picker and left there. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { meantBy, namedFirst } from '../../../src/console/browser/parts/pickers/meant.ts';

const named = (id: number, label: string) => ({ id, label });

const tern = named(1, 'Tern');
const audio = named(2, 'Tern Audio');
const other = named(3, 'Bittern');
const twin = named(4, 'tern');
const signed = named(5, '#3');

for (const [title, text, choices, value, meant] of [
  ['the only choice is meant', 'audio', [audio], null, audio],
  ['no choice is meant if none was found', 'audio', [], null, undefined],
  ['no choice is meant if the text is part of several', 'ter', [tern, audio], null, undefined],
  ['the choice with this name is meant', 'Tern', [other, tern, audio], null, tern],
  ['case and surrounding white space do not matter', ' TERN ', [tern, audio], null, tern],
  ['no choice is meant if two have this name', 'tern', [tern, twin], null, undefined],
  ['the chosen one of two with this name is meant', 'tern', [tern, twin], 4, twin],
  ['a choice is meant by its id', '#3', [tern, other], null, other],
  ['an id without its sign is a part of a name', '3', [tern, other], null, undefined],
  ['no choice is meant if the text is an id and a name', '#3', [other, signed], null, undefined],
  ['the chosen one is not meant by a part of its name', 'ter', [tern, audio], 1, undefined],
] as const) {
  test(title, () => {
    assert.is(meantBy(text, choices, value), meant);
  });
}

test('the only choice that is shown is not meant if there are others', () => {
  assert.is(meantBy('audio', [audio], null, false), undefined);
  assert.is(meantBy('tern audio', [audio], null, false), audio);
});

test('what has the name or the id is the first of the choices', () => {
  assert.equal(namedFirst('tern', [other, audio, tern, twin]), [tern, twin, other, audio]);
  assert.equal(namedFirst('#3', [tern, other]), [other, tern]);
  assert.equal(namedFirst('ter', [other, audio]), [other, audio]);
});

test.run();
