/** What only the server sets: shown below the fields. */
import type { Collection } from '../api/collections.ts';
import type { Item } from '../api/types.ts';
import { attributeLabel, helpFor, shownValue } from '../parts/attributes.ts';

interface FactsProps {
  readonly collection: Collection;
  readonly item: Item;
}

/** An attribute without a value is a dash. */
export function Facts({ collection, item }: FactsProps) {
  return (
    <div class="facts">
      {['id', ...collection.facts].map((attribute) => (
        <div key={attribute}>
          <label for={`fact-${attribute}`}>{attributeLabel(attribute)}</label>
          {/* Without a role of its own it would be a message that is announced. */}
          <output id={`fact-${attribute}`} role="group" aria-describedby={`fact-${attribute}-help`}>
            {shownValue(attribute, item[attribute]) || '–'}
          </output>
          <p id={`fact-${attribute}-help`} class="help">
            {helpFor(collection.name, attribute)}
          </p>
        </div>
      ))}
    </div>
  );
}
