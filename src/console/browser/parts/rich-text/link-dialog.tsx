/** Asks where a link of a description leads. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { t } from '../../messages/text.ts';
import { Dialog } from '../dialog.tsx';
import { linkAddress } from './link-address.ts';

interface LinkProps {
  /** Where the link leads now; "" if there is none yet. */
  readonly current: string;
  readonly onClose: () => void;
  /** @param address null to remove the link. */
  readonly onDone: (address: string | null) => void;
}

/** It has no form of its own: it stands in that of the item, and a form cannot hold another. */
export function LinkDialog({ current, onClose, onDone }: LinkProps) {
  const input = useRef<HTMLInputElement>(null);
  const wrong = useSignal(false);
  const apply = () => {
    const address = linkAddress(input.current?.value ?? '');
    wrong.value = address === null;
    if (address === null) input.current?.focus();
    else onDone(address);
  };
  return (
    <Dialog title={t('richText.link')} onClose={onClose} asks>
      <div class="dialog-body">
        <div class="field">
          <label for="link-address">{t('link.address')}</label>
          <input
            ref={input}
            id="link-address"
            inputMode="url"
            autocomplete="off"
            autofocus
            defaultValue={current}
            aria-invalid={wrong.value}
            aria-describedby="link-address-help"
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              // The form that the description belongs to is not to be sent.
              event.preventDefault();
              apply();
            }}
          />
          <p
            id="link-address-help"
            class={wrong.value ? 'problem' : 'help'}
            role={wrong.value ? 'alert' : undefined}
          >
            {t(wrong.value ? 'link.problem' : 'link.help')}
          </p>
        </div>
      </div>
      <footer>
        {current !== '' && (
          <button type="button" class="danger" onClick={() => onDone(null)}>
            {t('link.remove')}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {t('dialog.cancel')}
        </button>
        <button type="button" class="primary" onClick={apply}>
          {t('link.apply')}
        </button>
      </footer>
    </Dialog>
  );
}
