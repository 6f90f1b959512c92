/** Text that was typed into a picker, and from which nothing was chosen when the user left it. */
import { useLayoutEffect } from 'preact/hooks';
import { t } from '../../messages/text.ts';
import type { PickerProps } from './picker-props.ts';

/**
 * Attributes of an input whose text is not part of what its form would save. A form finds it by them.
 *
 * @param drop forgets the text.
 */
export function unsavedText(text: string, drop: () => void) {
  return { 'data-unchosen': text.trim() !== '', onDiscard: drop };
}

/** Attributes of the input. @param text what is typed. @param drop forgets it. */
export function describing(
  { id, invalid = false, describedBy }: PickerProps,
  { kept, unchosen }: Kept,
  text: string | null,
  drop: () => void,
) {
  const ids = [
    ...(describedBy === undefined ? [] : [describedBy]),
    ...(unchosen ? [`${id}-unchosen`] : []),
  ];
  return {
    'aria-invalid': invalid || kept,
    'aria-describedby': ids.length === 0 ? undefined : ids.join(' '),
    ...unsavedText(text ?? '', drop),
  };
}

/**
 * Forgets the text of a part of the page from which nothing was chosen, or that was not added; also
 * a text that was deleted, which would empty its field when the user leaves it.
 */
export function dropUnchosen(part: HTMLElement | null): void {
  const fields = part?.querySelectorAll('[data-unchosen]') ?? [];
  for (const field of fields) field.dispatchEvent(new Event('discard'));
}

/** Whether a part of the page has text from which nothing was chosen, or that was not added. */
export function hasUnchosen(part: HTMLElement | null): boolean {
  return part !== null && part.querySelector('[data-unchosen=true]') !== null;
}

export interface Kept {
  /** Whether text is kept that nothing was chosen for; what it means may not be known yet. */
  readonly kept: boolean;
  /** Whether the user has to choose. */
  readonly unchosen: boolean;
}

/**
 * Takes what a text means that was left.
 *
 * @param meant null until it is known, undefined if the user has to choose.
 */
export function useMeant<T>(
  left: boolean,
  meant: T | null | undefined,
  take: (meant: T) => void,
): Kept {
  const taken = left && meant !== null && meant !== undefined ? meant : null;
  useLayoutEffect(() => {
    if (taken !== null) take(taken);
  }, [taken]);
  return { kept: left && taken === null, unchosen: left && meant === undefined };
}

/** The message below the field. */
export function Unchosen({ id, shown }: { readonly id: string; readonly shown: boolean }) {
  return shown ? (
    <p id={`${id}-unchosen`} role="alert" class="problem">
      {t('combobox.unchosen')}
    </p>
  ) : null;
}
