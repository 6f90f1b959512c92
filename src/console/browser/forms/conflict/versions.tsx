/** Both versions of an item that differ, field by field, in a table or below each other. */
import { useEffect, useRef } from 'preact/hooks';
import { textOf } from '../../api/text-of.ts';
import { t } from '../../messages/text.ts';
import { attributeLabel } from '../../parts/attributes.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { TypedText } from '../typed-text.tsx';
import type { FormState } from '../form-state.ts';
import type { FormField, Typed } from '../values.ts';
import { compare } from './compare.ts';

export type Side = 'mine' | 'theirs';

export interface Difference {
  readonly field: FormField;
  readonly base: Typed;
  readonly mine: Typed;
  readonly theirs: Typed;
  /** Whether this side has changed it. */
  readonly changed: boolean;
  /** Whether both sides have changed it. */
  readonly both: boolean;
}

/** Characters of a text that may need to be scrolled. */
const LONG = 200;

interface TableProps {
  readonly differences: readonly Difference[];
  readonly sideOf: (difference: Difference) => Side;
  readonly collection: FormState['collection']['name'];
  readonly onChoose: (difference: Difference, side: Side) => void;
}

/** Each attribute as it was, as it is typed here and as another user has saved it, to choose from. */
export function VersionTable({ differences, sideOf, collection, onChoose }: TableProps) {
  return (
    <DataTable
      label={t('conflict.versions')}
      columns={[
        t('conflict.attribute'),
        t('conflict.before'),
        t('conflict.mine'),
        t('conflict.theirs'),
      ]}
      class="versions"
    >
      {differences.map((each) => (
        <Versions
          key={each.field.attribute}
          difference={each}
          side={sideOf(each)}
          collection={collection}
          onChoose={(side) => onChoose(each, side)}
        />
      ))}
    </DataTable>
  );
}

interface VersionsProps {
  readonly difference: Difference;
  readonly side: Side;
  readonly collection: FormState['collection']['name'];
  readonly onChoose: (side: Side) => void;
}

function Versions({ difference, side, collection, onChoose }: VersionsProps) {
  const { field, base, both } = difference;
  const { attribute } = field;
  const given = { difference, collection };
  return (
    <tr>
      <th scope="row" id={`version-${attribute}`}>
        {attributeLabel(attribute)} {both && <span class="tag">{t('conflict.both')}</span>}
      </th>
      <td class="wraps soft">
        {/* A narrow window shows the versions below each other, and no row of headers. */}
        <span class="heading-of-version">{t('conflict.before')}</span>
        <Version {...given} shown={base} other={null} />
      </td>
      {(['mine', 'theirs'] as const).map((each) => (
        <td
          key={each}
          class={side === each ? 'wraps kept' : 'wraps'}
          onClick={() => onChoose(each)}
        >
          <label>
            <input
              type="radio"
              name={`version-${attribute}`}
              checked={side === each}
              // All of them are called the same.
              aria-describedby={`version-${attribute}`}
              onChange={() => onChoose(each)}
            />{' '}
            {t(`conflict.${each}`)}
          </label>
          <Version
            {...given}
            shown={difference[each]}
            other={difference[each === 'mine' ? 'theirs' : 'mine']}
          />
        </td>
      ))}
    </tr>
  );
}

interface VersionProps extends Pick<VersionsProps, 'difference' | 'collection'> {
  readonly shown: Typed;
  /** The version to compare it with; null for none. */
  readonly other: Typed;
}

/** The whole value. A text that is compared begins to be shown where the other one differs. */
function Version({ difference, collection, shown, other }: VersionProps) {
  const { field } = difference;
  const box = useRef<HTMLDivElement>(null);
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    if (box.current === null || mark.current === null) return;
    box.current.scrollTop = mark.current.offsetTop - box.current.clientHeight / 3;
  }, [shown, other]);
  if (field.kind !== 'long text' && field.kind !== 'text') {
    return (
      <div class="version">
        <TypedText {...{ field, collection }} typed={shown} />
      </div>
    );
  }
  const text = textOf(shown);
  const { before, own, after } = compare(text, textOf(other ?? shown));
  return (
    // What scrolls must be reachable by keyboard.
    <div ref={box} class="version" {...(text.length > LONG && { tabIndex: 0 })}>
      {before}
      {other !== null && <mark ref={mark}>{own}</mark>}
      {after}
      {text === '' && '–'}
    </div>
  );
}
