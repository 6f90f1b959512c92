/** The dialogs of the screen of accounts. */
import { useSignal } from '@preact/signals';
import { client, unwrap } from '../api/typed-client.ts';
import { textOf } from '../api/text-of.ts';
import type { Role } from '../api/types.ts';
import { t } from '../messages/text.ts';
import { useOneAtATime } from '../one-at-a-time.ts';
import { Dialog, DialogFooter } from '../parts/dialog.tsx';
import { announce, Problem, wordsFor } from '../parts/notices.tsx';
import { whileSaving } from '../saving.ts';
import { named, ROLES } from './accounts.ts';

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** @param write sends the form. */
function useAccountForm(
  { onClose, onDone }: DialogProps,
  write: (form: FormData) => Promise<void>,
) {
  const problem = useSignal<string | null>(null);
  const send = useOneAtATime(async (form: FormData) => {
    try {
      await whileSaving(() => write(form));
      onClose();
      onDone();
    } catch (error) {
      problem.value = wordsFor(error);
    }
  });
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    void send(new FormData(event.currentTarget));
  };
  return { problem, submit };
}

/** It stays open, with what was typed, if the server refuses the account. */
export function NewAccount(props: DialogProps) {
  const { problem, submit } = useAccountForm(props, async (form) => {
    const name = textOf(form.get('name'));
    const role = textOf(form.get('role')) as Role;
    const password = textOf(form.get('password'));
    await unwrap(client.POST('/admin/users/', { body: { name, role, password, disabled: false } }));
    announce(t('form.saved', { name }));
  });
  return (
    <Dialog title={t('accounts.new')} onClose={props.onClose} asks>
      <form onSubmit={submit}>
        <div class="dialog-body fields">
          <Problem text={problem.value} />
          <div class="field">
            <label for="account-name">{t('signIn.name')}</label>
            <input
              id="account-name"
              name="name"
              autocomplete="off"
              autocapitalize="none"
              required
            />
          </div>
          <div class="field">
            <label for="account-role">{t('accounts.role')}</label>
            <select id="account-role" name="role">
              {ROLES.map((each) => (
                <option key={each} value={each}>
                  {t(`role.${each}`)}
                </option>
              ))}
            </select>
            <p class="help">{t('accounts.roleHelp')}</p>
          </div>
          <PasswordField />
        </div>
        <DialogFooter onClose={props.onClose} action={t('form.create')} />
      </form>
    </Dialog>
  );
}

/** @param name of the account, whose tokens the server then revokes. */
export function NewPassword({ name, ...props }: DialogProps & { readonly name: string }) {
  const { problem, submit } = useAccountForm(props, async (form) => {
    const body = { password: textOf(form.get('password')) };
    await unwrap(client.PATCH('/admin/users/{name}/', { params: named(name), body }));
    announce(t('accounts.passwordSet', { name }));
  });
  return (
    <Dialog title={t('accounts.passwordFor', { name })} onClose={props.onClose} asks>
      <form onSubmit={submit}>
        <div class="dialog-body fields">
          <Problem text={problem.value} />
          <p>{t('accounts.passwordHelp')}</p>
          <PasswordField />
        </div>
        <DialogFooter onClose={props.onClose} action={t('form.save')} />
      </form>
    </Dialog>
  );
}

function PasswordField() {
  return (
    <div class="field">
      <label for="account-password">{t('signIn.password')}</label>
      <input
        id="account-password"
        name="password"
        type="password"
        autocomplete="new-password"
        required
      />
    </div>
  );
}
