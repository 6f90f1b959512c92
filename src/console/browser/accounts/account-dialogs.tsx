/** The dialogs of the screen of accounts. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ApiError } from '../api/client.ts';
import { client, unwrap } from '../api/typed-client.ts';
import { textOf } from '../api/text-of.ts';
import type { Role } from '../api/types.ts';
import { focusProblem } from '../forms/fields.tsx';
import { refusalsOf } from '../forms/save.ts';
import { t } from '../messages/text.ts';
import { useOneAtATime } from '../one-at-a-time.ts';
import { Dialog, DialogFooter, useComplaint } from '../parts/dialog.tsx';
import { announce, Problem, wordsFor } from '../parts/notices.tsx';
import { whileSaving } from '../saving.ts';
import { named, ROLES } from './accounts.ts';

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The fields whose problems are shown below them. */
const FIELDS = ['name', 'password'] as const;

type Problems = Readonly<Partial<Record<string, string>>>;

/** What is wrong with each field; "" is for the form as a whole. */
function problemsOf(error: unknown): Problems {
  return error instanceof ApiError && Object.keys(error.fields).length > 0
    ? refusalsOf(FIELDS, error)
    : { '': wordsFor(error) };
}

/** @param write sends the form. */
function useAccountForm(
  { onClose, onDone }: DialogProps,
  write: (form: FormData) => Promise<void>,
) {
  const problems = useSignal<Problems>({});
  const root = useRef<HTMLFormElement>(null);
  const fail = useComplaint((error) => {
    problems.value = problemsOf(error);
    requestAnimationFrame(() => focusProblem(root.current));
  });
  const send = useOneAtATime(async (form: FormData) => {
    problems.value = {};
    try {
      await whileSaving(() => write(form));
      onClose();
      onDone();
    } catch (error) {
      fail(error);
      // The response may be lost, and the account be there.
      onDone();
    }
  });
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    void send(new FormData(event.currentTarget));
  };
  return { problems: problems.value, given: { ref: root, onSubmit: submit } };
}

/** It stays open, with what was typed, if the server refuses the account. */
export function NewAccount(props: DialogProps) {
  const { problems, given } = useAccountForm(props, async (form) => {
    const name = textOf(form.get('name'));
    const role = textOf(form.get('role')) as Role;
    const password = textOf(form.get('password'));
    await unwrap(client.POST('/admin/users/', { body: { name, role, password, disabled: false } }));
    announce(t('form.saved', { name }));
  });
  return (
    <Dialog title={t('accounts.new')} onClose={props.onClose} asks>
      <form {...given}>
        <div class="dialog-body fields">
          <Problem text={problems[''] ?? null} />
          <AccountField name="name" label={t('signIn.name')} problem={problems['name']} />
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
          <PasswordField problem={problems['password']} />
        </div>
        <DialogFooter onClose={props.onClose} action={t('form.create')} />
      </form>
    </Dialog>
  );
}

/** @param name of the account, whose tokens the server then revokes. */
export function NewPassword({ name, ...props }: DialogProps & { readonly name: string }) {
  const { problems, given } = useAccountForm(props, async (form) => {
    const body = { password: textOf(form.get('password')) };
    await unwrap(client.PATCH('/admin/users/{name}/', { params: named(name), body }));
    announce(t('accounts.passwordSet', { name }));
  });
  return (
    <Dialog title={t('accounts.passwordFor', { name })} onClose={props.onClose} asks>
      <form {...given}>
        <div class="dialog-body fields">
          <Problem text={problems[''] ?? null} />
          <p>{t('accounts.passwordHelp')}</p>
          <PasswordField problem={problems['password']} />
        </div>
        <DialogFooter onClose={props.onClose} action={t('form.save')} />
      </form>
    </Dialog>
  );
}

interface FieldProps {
  readonly name: (typeof FIELDS)[number];
  readonly label: string;
  readonly problem: string | undefined;
}

function AccountField({ name, label, problem }: FieldProps) {
  const id = `account-${name}`;
  const given = {
    id,
    name,
    required: true,
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem === undefined ? undefined : `${id}-problem`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {name === 'password' ? (
        <input {...given} type="password" autocomplete="new-password" autocapitalize="none" />
      ) : (
        <input {...given} type="text" autocomplete="off" autocapitalize="none" />
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} class="problem">
          {problem}
        </p>
      )}
    </div>
  );
}

function PasswordField({ problem }: Pick<FieldProps, 'problem'>) {
  return <AccountField name="password" label={t('signIn.password')} problem={problem} />;
}
