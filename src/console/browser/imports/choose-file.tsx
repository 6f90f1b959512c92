/** The first step of an import: which file, into which collection, and how rows are found. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { COLLECTION_NAMES, COLLECTIONS } from '../api/collections.ts';
import type { CollectionName } from '../api/types.ts';
import { t } from '../messages/text.ts';
import { focusProblem } from '../forms/fields.tsx';
import { complain } from '../parts/notices.tsx';
import { type ImportFile, readImportFile } from './file.ts';
import type { Chosen, Plan } from './plan.ts';
import { mustBeUnchanged } from './unchanged.ts';
import { textOf } from '../api/text-of.ts';

const CREATABLE = ['brands', 'categories', 'specs', 'options'] as const;

interface ChooseProps {
  /** What was chosen before the user came back; null if nothing was. */
  readonly before: Plan | null;
  readonly onChosen: (chosen: Chosen) => Promise<void>;
}

/** Ways to find items, and their labels. */
const MATCHES = {
  skus: { id: 'idOrCode', code: 'code', name: 'name' },
  others: { id: 'id', name: 'name' },
} as const;

/** Files of spreadsheets that are not text, such as a field that shows all files can choose. */
const WORKBOOK = /\.(?:xls[xmb]?|ods|numbers)$/i;

/** Why a file cannot be read; null if it can be tried. */
function problemOf(file: FormDataEntryValue | null): string | null {
  if (!(file instanceof File) || file.size === 0) return t('import.noFile');
  return WORKBOOK.test(file.name) ? t('import.workbook') : null;
}

/** The file of the form, once it is read; why it cannot be imported otherwise. */
async function readChosen(file: FormDataEntryValue | null): Promise<ImportFile | string> {
  const problem = problemOf(file);
  if (problem !== null || !(file instanceof File)) return problem ?? '';
  await mustBeUnchanged(file);
  const read = await readImportFile(file);
  return read.table?.header.length === 0 ? t('import.noFile') : read;
}

/** Calls `onChosen` with a file that is not empty and was read. */
export function ChooseFile({ before, onChosen }: ChooseProps) {
  const collection = useSignal<CollectionName>(before?.collection ?? 'skus');
  const problem = useSignal<string | null>(null);
  const busy = useSignal(false);
  const submit = async (element: HTMLFormElement) => {
    if (busy.value) return;
    const form = new FormData(element);
    busy.value = true;
    try {
      const file = await readChosen(form.get('file'));
      problem.value = typeof file === 'string' ? file : null;
      if (typeof file === 'string') {
        requestAnimationFrame(() => focusProblem(element));
        return;
      }
      await onChosen({
        collection: collection.value,
        match: textOf(form.get('match')),
        createMissing: form.getAll('missing').map(String),
        file,
      });
    } finally {
      busy.value = false;
    }
  };
  return (
    <form
      class="fields panel"
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget).catch(complain);
      }}
    >
      <div class="field">
        <label for="import-collection">{t('import.collection')}</label>
        <select
          id="import-collection"
          value={collection.value}
          onChange={({ currentTarget }) => {
            collection.value = currentTarget.value as CollectionName;
          }}
        >
          {COLLECTION_NAMES.filter((name) => COLLECTIONS[name].administered).map((name) => (
            <option key={name} value={name}>
              {t(`collection.${name}`)}
            </option>
          ))}
        </select>
      </div>
      <FileField
        before={before}
        problem={problem.value}
        onChange={() => {
          problem.value = null;
        }}
      />
      <Matching collection={collection.value} before={before} />
      {/* A button that is disabled would lose the focus. */}
      <button type="submit" class="primary start" aria-disabled={busy.value}>
        {t('import.next')}
      </button>
    </form>
  );
}

interface FileFieldProps extends Pick<ChooseProps, 'before'> {
  readonly problem: string | null;
  readonly onChange: () => void;
}

function FileField({ before, problem, onChange }: FileFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (before !== null && input.current !== null) putFile(input.current, before.file);
  }, []);
  return (
    <div class="field">
      <label for="import-file">{t('import.file')}</label>
      <input
        ref={input}
        id="import-file"
        name="file"
        type="file"
        accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json"
        aria-describedby="import-file-help"
        aria-invalid={problem !== null}
        onChange={onChange}
      />
      <p id="import-file-help" class={problem === null ? 'help' : 'problem'}>
        {problem ?? t('import.fileHelp')}
      </p>
    </div>
  );
}

/** Chooses a file in a field. A script cannot name one, but can hand over one that it has. */
function putFile(input: HTMLInputElement, { blob, name }: ImportFile): void {
  const transfer = new DataTransfer();
  transfer.items.add(new File([blob], name));
  input.files = transfer.files;
}

interface MatchingProps extends Pick<ChooseProps, 'before'> {
  readonly collection: CollectionName;
}

/** How rows of the file are found in the catalog, and what is created for them. */
function Matching({ collection, before }: MatchingProps) {
  return (
    <>
      <div class="field">
        <label for="import-match">{t('import.match')}</label>
        <select id="import-match" name="match">
          {Object.entries(MATCHES[collection === 'skus' ? 'skus' : 'others']).map(
            ([name, label]) => (
              <option key={name} value={name} selected={name === before?.match}>
                {t(`import.match.${label}`)}
              </option>
            ),
          )}
        </select>
      </div>
      <fieldset class="field checks">
        <legend>{t('import.missing')}</legend>
        {CREATABLE.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              name="missing"
              value={name}
              defaultChecked={before?.createMissing.includes(name) ?? false}
            />{' '}
            {t(`collection.${name}`)}
          </label>
        ))}
      </fieldset>
    </>
  );
}
