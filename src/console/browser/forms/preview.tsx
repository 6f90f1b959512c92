/** The page in the shop as it will be: the server renders what is typed and stores nothing. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answer } from '../api/answer.ts';
import { ApiError, isAborted, send } from '../api/client.ts';
import { MERGE_PATCH } from '../api/items.ts';
import { serverText, t } from '../messages/text.ts';
import { Failure, wordsFor } from '../parts/notices.tsx';
import { useVersion } from '../parts/version.ts';
import type { FormState } from './form-state.ts';

/** How long a pause in typing lasts before the page is rendered again, in milliseconds. */
const PAUSE_MS = 400;

/** The form holds whether the page is shown: the two are in different places. */
export function PreviewButton({ form }: { readonly form: FormState }) {
  return (
    <button
      type="button"
      aria-expanded={form.previewed.value}
      onClick={() => {
        form.previewed.value = !form.previewed.value;
      }}
    >
      {t('preview.action')}
    </button>
  );
}

/** What the server renders: everything that is valid, with the id of an item that exists. */
function bodyOf(form: FormState): object {
  const { id } = form.base.value?.item ?? { id: undefined };
  const specs = Object.entries(form.typed.value['specs'] ?? {}).flatMap(([spec, option]) =>
    option === null ? [] : [{ spec_id: Number(spec), option_id: option as number }],
  );
  return {
    ...(id !== undefined && { id }),
    ...form.allValues(),
    ...(form.collection.name === 'skus' && { specs }),
  };
}

/** A page that cannot be rendered leaves the one before in its place, with the reason above it. */
export function Preview({ form }: { readonly form: FormState }) {
  const page = useSignal<string | null>(null);
  /** Why what is typed cannot be rendered. */
  const problem = useSignal<string | null>(null);
  /** Why the server has not rendered it. */
  const failure = useSignal<string | null>(null);
  const [wanted, reload] = useVersion();
  const body = JSON.stringify(bodyOf(form));
  const { path } = form.collection;
  useEffect(() => {
    void wanted;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      render(`${path}preview/`, body, abort.signal).then(
        (html) => {
          page.value = html;
          problem.value = null;
          failure.value = null;
        },
        (error: unknown) => {
          if (isAborted(error)) return;
          const isInvalid = error instanceof ApiError && error.status === 422;
          problem.value = isInvalid
            ? t('preview.invalid', { what: serverText(error.message) })
            : null;
          failure.value = isInvalid ? null : wordsFor(error);
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [body, path, page, problem, failure, wanted]);
  return (
    <section class="preview" aria-label={t('preview.title')}>
      {problem.value !== null && <p class="problem">{problem.value}</p>}
      <Failure text={failure.value} onAgain={reload} />
      {page.value !== null && (
        // Not an address of its own, so that the page finds the style sheet of the shop.
        <iframe title={t('preview.title')} srcdoc={page.value} sandbox="allow-same-origin" />
      )}
    </section>
  );
}

/** @returns the page. @throws ApiError, TypeError, DOMException. */
async function render(path: string, body: string, signal: AbortSignal): Promise<string> {
  const response = await send(path, {
    method: 'POST',
    body: JSON.parse(body) as object,
    headers: { ...MERGE_PATCH, Accept: 'text/html' },
    signal,
  });
  return answer(response.text());
}
