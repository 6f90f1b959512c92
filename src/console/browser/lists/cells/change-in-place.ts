/** One attribute of a SKU changed from the list. */
import { ApiError } from '../../api/client.ts';
import { change, load } from '../../api/items.ts';
import type { Item, Value } from '../../api/types.ts';
import { t } from '../../messages/text.ts';
import { attributeLabel, shownValue } from '../../parts/attributes.ts';
import { announce } from '../../parts/notices.tsx';
import { textOf } from '../../api/text-of.ts';

/** Attempts if others write the same SKU, but not this attribute. */
const ATTEMPTS = 3;

/**
 * Changes the attribute if it still is what the list shows. Otherwise the list is given what the
 * item is now.
 *
 * @throws ApiError `412` if another user has changed the attribute; what the server refuses.
 */
export async function changeInPlace(
  shown: Item,
  attribute: string,
  value: Value,
  onChange: (item: Item) => void,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { item, etag } = await load('skus', shown.id);
    if (item[attribute] !== shown[attribute]) {
      onChange(item);
      const now = shownValue(attribute, item[attribute]);
      const label = attributeLabel(attribute);
      throw new ApiError(
        412,
        t('list.changedMeanwhile', { label, now, name: textOf(item['name']) }),
      );
    }
    try {
      const { item: changed } = await change('skus', shown.id, { [attribute]: value }, etag);
      onChange(changed);
      say(shown, changed, attribute, onChange);
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412) || attempt === ATTEMPTS) throw error;
    }
  }
}

function say(before: Item, changed: Item, attribute: string, onChange: (item: Item) => void): void {
  const text = t('list.changed', {
    name: textOf(changed['name']),
    label: attributeLabel(attribute),
    now: shownValue(attribute, changed[attribute]),
  });
  const label = t('undo');
  const run = () => changeInPlace(changed, attribute, before[attribute] as Value, onChange);
  announce(text, { label, run });
}
