/** The role of an account. It is written by a button: the arrow keys pass through every choice. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Role } from '../api/types.ts';
import { t } from '../messages/text.ts';
import { useOneAtATime } from '../one-at-a-time.ts';
import { ROLES } from './accounts.ts';

interface RoleCellProps {
  readonly name: string;
  readonly role: Role;
  /** Writes the role. Resolves to whether the server has taken it. */
  readonly onApply: (role: Role) => Promise<boolean>;
}

/** A choice that is not applied is dropped by Escape, or if the server refuses it. */
export function RoleCell({ name, role, onApply }: RoleCellProps) {
  /** Null while the choice is what the server has. */
  const chosen = useSignal<Role | null>(null);
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    chosen.value = null;
  }, [chosen, role]);
  const takeBack = () => {
    // The button is removed, and must not take the focus with it.
    select.current?.focus();
    chosen.value = null;
  };
  const apply = useOneAtATime(async () => {
    if (chosen.value === null) return;
    const taken = await onApply(chosen.value);
    if (taken) select.current?.focus();
    else takeBack();
  });
  return (
    <td
      class="row-actions"
      onKeyDown={({ key }) => {
        if (key === 'Escape' && chosen.value !== null) takeBack();
      }}
    >
      <select
        ref={select}
        aria-label={t('accounts.roleOf', { name })}
        value={chosen.value ?? role}
        onChange={({ currentTarget: { value } }) => {
          chosen.value = value === role ? null : (value as Role);
        }}
      >
        {ROLES.map((each) => (
          <option key={each} value={each}>
            {t(`role.${each}`)}
          </option>
        ))}
      </select>
      {chosen.value !== null && (
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
