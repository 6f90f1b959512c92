/** The role of an account. It is written by a button: the arrow keys pass through every choice. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Role } from '../api/types.ts';
import { t } from '../messages/text.ts';
import { useOneAtATime } from '../one-at-a-time.ts';
import { type Outcome, ROLES } from './accounts.ts';

interface RoleCellProps {
  readonly name: string;
  readonly role: Role;
  readonly onApply: (role: Role) => Promise<Outcome>;
}

/** A choice, and the role of the server that it is to replace. */
interface Choice {
  readonly over: Role;
  readonly role: Role;
}

/**
 * A choice that is not applied is dropped by Escape, if the server refuses it, or if the server has
 * another role meanwhile.
 */
export function RoleCell({ name, role, onApply }: RoleCellProps) {
  const choice = useSignal<Choice | null>(null);
  const select = useRef<HTMLSelectElement>(null);
  /** Null while the choice is what the server has. */
  const chosen = choice.value?.over === role ? choice.value.role : null;
  const takeBack = () => {
    // The button is removed, and must not take the focus with it.
    select.current?.focus();
    choice.value = null;
  };
  const apply = useOneAtATime(async () => {
    if (chosen === null) return;
    const outcome = await onApply(chosen);
    if (outcome === 'done') select.current?.focus();
    if (outcome === 'refused') takeBack();
  });
  return (
    <td
      class="row-actions role"
      onKeyDown={({ key }) => {
        if (key === 'Escape' && chosen !== null) takeBack();
      }}
    >
      <select
        ref={select}
        aria-label={t('accounts.roleOf', { name })}
        value={chosen ?? role}
        onChange={({ currentTarget: { value } }) => {
          choice.value = value === role ? null : { over: role, role: value as Role };
        }}
      >
        {ROLES.map((each) => (
          <option key={each} value={each}>
            {t(`role.${each}`)}
          </option>
        ))}
      </select>
      {chosen !== null && (
        <>
          {' '}
          <button
            type="button"
            aria-label={t('accounts.applyRoleOf', { name })}
            onClick={() => void apply()}
          >
            {t('accounts.applyRole')}
          </button>
        </>
      )}
    </td>
  );
}
