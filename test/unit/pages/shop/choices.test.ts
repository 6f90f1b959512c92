/** Which SKUs the options on the page of a SKU lead to (docs/pages.md). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { choicesOf, type Variant } from '../../../../src/pages/shop/choices.ts';

/** @param options ids by the ids of their specifications, which need not be in order. */
function variant(id: number, options: readonly (readonly [number, number])[], launched = true) {
  const specifications = options.map(([spec, option]) => {
    return { id: spec, name: `Spec ${spec}`, optionId: option, value: `Option ${option}` };
  });
  return { id, launched, specifications } satisfies Variant;
}

/** The SKUs that the options lead to, by specification. */
const leadsOf = (variants: readonly Variant[], sku: Variant) =>
  choicesOf(variants, sku).map(({ name, options }) => [name, options.map((each) => each.sku)]);

test('an option leads to the SKU that has it and most of the other options of the page', () => {
  const own = variant(2, [
    [1, 11],
    [2, 21],
    [3, 31],
  ]);
  const others = [
    variant(1, [
      [1, 12],
      [2, 22],
      [3, 31],
    ]),
    variant(3, [
      [1, 12],
      [2, 21],
      [3, 31],
    ]),
    variant(4, [
      [1, 12],
      [2, 21],
      [3, 32],
    ]),
  ];
  assert.equal(leadsOf([...others.slice(0, 1), own, ...others.slice(1)], own), [
    ['Spec 1', [null, 3]],
    ['Spec 2', [null, 1]],
    ['Spec 3', [null, 4]],
  ]);
});

test('a SKU off sale that has more of the options is chosen before one on sale that has fewer', () => {
  const own = variant(1, [
    [1, 11],
    [2, 21],
  ]);
  const far = variant(2, [
    [1, 12],
    [2, 22],
  ]);
  const near = variant(
    3,
    [
      [1, 12],
      [2, 21],
    ],
    false,
  );
  assert.equal(leadsOf([own, far, near], own)[0], ['Spec 1', [null, 3]]);
});

test('of SKUs that agree equally, the first that is on sale is chosen, or else the first', () => {
  const own = variant(1, [[1, 11]]);
  const [first, second, third] = [2, 3, 4].map((id) => variant(id, [[1, 12]], id !== 2));
  assert.ok(first && second && third);
  assert.equal(leadsOf([own, first, second, third], own), [['Spec 1', [null, 3]]]);
  const off = { ...second, launched: false };
  assert.equal(leadsOf([own, first, off], own), [['Spec 1', [null, 2]]]);
});

test('specifications and options are in the order of their ids, and those with one option are left out', () => {
  const own = variant(1, [
    [2, 23],
    [1, 12],
    [3, 31],
  ]);
  const other = variant(2, [
    [2, 21],
    [1, 11],
    [3, 31],
  ]);
  assert.equal(choicesOf([own, other], own), [
    {
      name: 'Spec 1',
      options: [
        { value: 'Option 11', sku: 2, launched: true },
        { value: 'Option 12', sku: null, launched: true },
      ],
    },
    {
      name: 'Spec 2',
      options: [
        { value: 'Option 21', sku: 2, launched: true },
        { value: 'Option 23', sku: null, launched: true },
      ],
    },
  ]);
});

test.run();
