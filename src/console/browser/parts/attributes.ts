/** How attributes are called and shown. */
import type { Collection } from '../api/collections.ts';
import { categories } from '../api/references.ts';
import { isPrice } from '../api/schema.ts';
import type { CollectionName, Item } from '../api/types.ts';
import type { MessageKey } from '../messages/message.ts';
import { formatNumber, formatPrice, t } from '../messages/text.ts';
import { textOf } from '../api/text-of.ts';

/** The label of an attribute, by its name in requests or in responses. */
export function attributeLabel(attribute: string): string {
  return t(`attribute.${attribute}` as MessageKey);
}

/** What an attribute is for; "" if there is nothing to say. */
export function helpFor(collection: CollectionName, attribute: string): string {
  return t(`help.${collection}.${attribute}` as MessageKey);
}

/** The value of an attribute for people; "" if it has none. */
export function shownValue(attribute: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '';
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (typeof value === 'number') {
    if (isPrice(attribute)) return formatPrice(value);
    if (/^(?:category\d?|parent)_id$/.test(attribute)) {
      return categories.value?.get(value)?.path ?? `#${value}`;
    }
    return attribute === 'id' || attribute.endsWith('_id') ? String(value) : formatNumber(value);
  }
  return textOf(value);
}

/** The name of an item for people. */
export function titleOf(collection: Collection, item: Item): string {
  return textOf(item[collection.title]);
}

/** Whether the values of an attribute are numbers, which stand below each other by their digits. */
export function isNumeric(attribute: string): boolean {
  return (
    isPrice(attribute) ||
    ['id', 'stock', 'sales', 'comments', 'commentcount', 'readcount'].includes(attribute)
  );
}

/** The levels of the categories that an attribute may hold. */
export const CATEGORY_LEVELS: Readonly<Record<string, readonly number[]>> = {
  category_id: [3],
  category1_id: [1],
  category2_id: [2],
  category3_id: [3],
  parent_id: [1, 2],
};
