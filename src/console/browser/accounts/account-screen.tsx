/** Accounts: list, add, role, disable, password, end tokens. For admins. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../dist/console/api.d.ts';
import { ApiError } from '../api/client.ts';
import { client, unwrap } from '../api/typed-client.ts';
import { whileSaving } from '../saving.ts';
import { session } from '../api/session.ts';
import { NewAccount, NewPassword } from './account-dialogs.tsx';
import { named, type Outcome } from './accounts.ts';
import { RoleCell } from './role-cell.tsx';
import { formatTime, t } from '../messages/text.ts';
import { DataTable } from '../parts/data-table.tsx';
import { confirm } from '../parts/dialog.tsx';
import { announce, complain, Failure } from '../parts/notices.tsx';
import { useTitle } from '../parts/title.ts';
import { useReading } from '../parts/use-reading.ts';

type User = components['schemas']['User'];

type Open = { readonly kind: 'new' } | { readonly kind: 'password'; readonly name: string };

function readUsers(signal: AbortSignal): Promise<readonly User[]> {
  return unwrap(client.GET('/admin/users/', { params: { query: { per_page: 1000 } }, signal }));
}

/** It shows all accounts at once, up to the largest page of the API. */
export function AccountScreen() {
  const { found: users, failure, reload } = useReading(readUsers, []);
  const open = useSignal<Open | null>(null);
  useTitle(t('nav.accounts'));
  const opened = open.value;
  // A dialog that was cancelled, and is saved later, does not close the next one.
  const close = () => {
    if (open.value === opened) open.value = null;
  };
  return (
    <>
      <div class="heading">
        <h1>{t('nav.accounts')}</h1>
        <div class="actions">
          <button
            type="button"
            class="primary"
            onClick={() => {
              open.value = { kind: 'new' };
            }}
          >
            {t('accounts.new')}
          </button>
        </div>
      </div>
      <Failure text={failure.value} onAgain={reload} />
      {users.value === null && failure.value === null && <p class="empty">{t('loading')}</p>}
      {users.value !== null && (
        <UserTable
          users={users.value}
          onChanged={reload}
          onPassword={(name) => {
            open.value = { kind: 'password', name };
          }}
        />
      )}
      {open.value?.kind === 'new' && <NewAccount onClose={close} onDone={reload} />}
      {open.value?.kind === 'password' && (
        <NewPassword name={open.value.name} onClose={close} onDone={reload} />
      )}
    </>
  );
}

interface TableProps {
  readonly users: readonly User[];
  readonly onChanged: () => void;
  readonly onPassword: (name: string) => void;
}

function UserTable({ users, onChanged, onPassword }: TableProps) {
  return (
    <DataTable
      label={t('nav.accounts')}
      columns={[
        t('signIn.name'),
        t('accounts.role'),
        t('accounts.active'),
        t('accounts.created'),
        t('accounts.actions'),
      ]}
      isEmpty={users.length === 0}
    >
      {users.map((user) => (
        <UserRow key={user.name} {...{ user, onChanged, onPassword }} />
      ))}
    </DataTable>
  );
}

interface RowProps extends Omit<TableProps, 'users'> {
  readonly user: User;
}

function useUserActions({ user, onChanged }: RowProps) {
  const { name } = user;
  const run = async (work: () => Promise<void>): Promise<Outcome> => {
    try {
      await work();
      return 'done';
    } catch (error) {
      complain(error);
      return error instanceof ApiError && error.status < 500 ? 'refused' : 'failed';
    } finally {
      // The row shows what the server has, also after a refusal.
      onChanged();
    }
  };
  return {
    change: (body: Partial<Pick<User, 'role' | 'disabled'>>) =>
      run(async () => {
        await whileSaving(() =>
          unwrap(client.PATCH('/admin/users/{name}/', { params: named(name), body })),
        );
        announce(t('form.saved', { name }));
      }),
    endTokens: () =>
      run(async () => {
        const agreed = await confirm({
          title: t('accounts.endTokensTitle', { name }),
          text: t('accounts.endTokensText'),
          yes: t('accounts.endTokens'),
        });
        if (!agreed) return;
        await whileSaving(() =>
          unwrap(client.DELETE('/admin/users/{name}/tokens/', { params: named(name) })),
        );
        announce(t('accounts.tokensEnded', { name }));
      }),
    remove: (button: HTMLElement) =>
      run(async () => {
        const agreed = await confirm({
          title: t('accounts.removeTitle', { name }),
          text: t('accounts.removeText'),
          yes: t('accounts.remove'),
        });
        if (!agreed) return;
        await whileSaving(() =>
          unwrap(client.DELETE('/admin/users/{name}/', { params: named(name) })),
        );
        // The user may have gone on while the server was asked.
        if (document.activeElement === button) removeBeside(button)?.focus();
        announce(t('accounts.removed', { name }));
      }),
  };
}

/** The button that removes the account of the next row, else of the one before; null if alone. */
function removeBeside(button: HTMLElement): HTMLElement | null {
  const row = button.closest('tr');
  const other = row?.nextElementSibling ?? row?.previousElementSibling;
  return other?.querySelector<HTMLElement>('.danger-text') ?? null;
}

function UserRow(props: RowProps) {
  const { user, onPassword } = props;
  const { name, role, disabled, created } = user;
  const actions = useUserActions(props);
  return (
    <tr>
      <th scope="row" class="account-name name">
        {name} {name === session.value?.subject && <span class="tag">{t('accounts.you')}</span>}
      </th>
      <RoleCell name={name} role={role} onApply={(chosen) => actions.change({ role: chosen })} />
      <td>
        <input
          type="checkbox"
          role="switch"
          aria-label={t('accounts.activeOf', { name })}
          checked={!disabled}
          onChange={({ currentTarget }) => {
            void actions.change({ disabled: !currentTarget.checked }).then((outcome) => {
              // The browser has moved it, and no new list may come that moves it back.
              if (outcome !== 'done') currentTarget.checked = !disabled;
            });
          }}
        />
      </td>
      <td class="soft">{formatTime(created)}</td>
      <td class="row-actions">
        <button type="button" class="plain" onClick={() => onPassword(name)}>
          {t('accounts.password')}
        </button>
        <button type="button" class="plain" onClick={() => void actions.endTokens()}>
          {t('accounts.endTokens')}
        </button>
        <button
          type="button"
          class="plain danger-text"
          onClick={({ currentTarget }) => void actions.remove(currentTarget)}
        >
          {t('accounts.remove')}
        </button>
      </td>
    </tr>
  );
}
