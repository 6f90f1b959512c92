/** The import of a file: choose it, map its columns, see what it would do, and do it. */
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ApiError, isAborted, isPassing } from '../api/client.ts';
import { randomKey } from '../api/random-key.ts';
import { focusContent } from '../focus-content.ts';
import { holdBack } from '../location.ts';
import { currency, t } from '../messages/text.ts';
import { followCategories } from '../parts/category-changes.ts';
import { confirm } from '../parts/dialog.tsx';
import { announce, complain } from '../parts/notices.tsx';
import { useTitle } from '../parts/title.ts';
import { columnsOf, type Import, runImport } from './api.ts';
import { ChooseFile } from './choose-file.tsx';
import { BrokenRow, mappedFile, recognise, type SentFile } from './file.ts';
import { type Chosen, matchOf, type Plan } from './plan.ts';
import { MapColumns } from './map-columns.tsx';
import { columnLabel } from './column-label.ts';
import { Report } from './report.tsx';
import { mustBeUnchanged } from './unchanged.ts';

type Step =
  | { readonly kind: 'choose'; readonly plan: Plan | null }
  | { readonly kind: 'map'; readonly plan: Plan }
  | { readonly kind: 'running'; readonly plan: Plan; readonly dryRun: boolean }
  | {
      readonly kind: 'report';
      readonly plan: Plan;
      readonly result: Import;
      readonly example: SentFile['example'];
      /** Of the import that follows the check: the same however often it is started. */
      readonly key: string;
      /** Whether the server has not answered to it: the file may be imported. */
      readonly unanswered: boolean;
    };

const STEPS = ['choose', 'map', 'check', 'apply'] as const;

/** The number of the step that is shown, from 0. */
function positionOf(step: Step): number {
  if (step.kind === 'choose') return 0;
  if (step.kind === 'map') return 1;
  if (step.kind === 'running') return step.dryRun ? 2 : 3;
  return step.result.dry_run ? 2 : 3;
}

/** The check is an import that writes nothing; only its report leads to the one that writes. */
export function ImportScreen() {
  const step = useSignal<Step>({ kind: 'choose', plan: null });
  const progress = useSignal<Import | null>(null);
  useTitle(t('nav.import'));
  const start = useImport(step, progress);
  const current = step.value;
  useWarning(step);
  const shown = useRef(current.kind);
  useEffect(() => {
    // The button that led to the step is gone.
    if (shown.current !== current.kind) focusContent();
    shown.current = current.kind;
  }, [current.kind]);
  return (
    <>
      <div class="heading">
        <h1>{t('nav.import')}</h1>
      </div>
      <ol class="steps">
        {STEPS.map((name, at) => (
          <li key={name} aria-current={at === positionOf(current) ? 'step' : undefined}>
            {t(`import.step.${name}`)}
          </li>
        ))}
      </ol>
      {current.kind === 'choose' && (
        <ChooseFile before={current.plan} onChosen={(chosen) => prepare(chosen, step, start)} />
      )}
      {current.kind === 'map' && (
        <MapColumns
          plan={current.plan}
          onChange={(plan) => {
            step.value = { kind: 'map', plan };
          }}
          onBack={() => {
            step.value = { kind: 'choose', plan: current.plan };
          }}
          onNext={() => start(current.plan, null)}
        />
      )}
      {(current.kind === 'running' || current.kind === 'report') && (
        <Outcome step={current} progress={progress.value}>
          {current.kind === 'report' && (
            <Report
              plan={current.plan}
              result={current.result}
              example={current.example}
              unanswered={current.unanswered}
              onBack={() => {
                const mapped = current.plan.file.table !== null;
                step.value = { kind: mapped ? 'map' : 'choose', plan: current.plan };
              }}
              onApply={() => start(current.plan, current.key)}
              onAgain={() => {
                step.value = { kind: 'choose', plan: null };
              }}
            />
          )}
        </Outcome>
      )}
    </>
  );
}

/** Asks before the report of an import that is, or may be, under way is lost. */
function useWarning(step: Signal<Step>): void {
  const isWriting = () => {
    const { value } = step;
    return value.kind === 'running' ? !value.dryRun : value.kind === 'report' && value.unanswered;
  };
  const writing = isWriting();
  useLayoutEffect(() => {
    if (!writing) return;
    const question = {
      title: t('nav.import'),
      text: t('import.leave'),
      yes: t('leave.yes'),
      no: t('leave.no'),
    };
    return holdBack({ isUnsaved: isWriting, ask: () => confirm(question, isWriting) });
  }, [writing]);
}

/** The plan before the user went back, if the file is the same; otherwise null. */
function planOfSame({ collection, file }: Chosen, before: Plan | null): Plan | null {
  if (before === null || before.collection !== collection) return null;
  const same = before.file.table?.header.join('\n') === file.table?.header.join('\n');
  return same && before.file.name === file.name ? before : null;
}

/** @param key of an import that writes; null for the check. */
type Start = (plan: Plan, key: string | null) => void;

/** Reads which columns there are; a file without columns is checked at once. */
async function prepare(chosen: Chosen, step: Signal<Step>, start: Start): Promise<void> {
  const columns = await columnsOf(chosen.collection);
  const { table } = chosen.file;
  const all = columns.flatMap((name) => {
    const [, price] = /^(.*price) [A-Z]{3}$/.exec(name) ?? [];
    return price === undefined ? [name] : [name, price];
  });
  const before = planOfSame(chosen, step.value.kind === 'choose' ? step.value.plan : null);
  const mapping =
    table === null ? [] : (before?.mapping ?? recognise(table.header, all, all.map(columnLabel)));
  const plan = { ...chosen, columns: all, mapping, headless: before?.headless ?? false };
  if (table === null) start(plan, null);
  else step.value = { kind: 'map', plan };
}

function useImport(step: Signal<Step>, progress: Signal<Import | null>): Start {
  const abort = useSignal<AbortController | null>(null);
  useEffect(() => () => abort.value?.abort(), [abort]);
  const run = async (plan: Plan, key: string | null, before: Step) => {
    const dryRun = key === null;
    const controller = new AbortController();
    abort.value = controller;
    progress.value = null;
    step.value = { kind: 'running', plan, dryRun };
    try {
      await mustBeUnchanged(plan.file.blob);
      const { file, example } = sentFile(plan);
      const result = await runImport(
        plan.collection,
        file,
        { ...plan, match: matchOf(plan), key },
        (state) => {
          progress.value = state;
        },
        controller.signal,
      );
      step.value = {
        kind: 'report',
        plan,
        result,
        example,
        key: randomKey(),
        unanswered: false,
      };
      if (dryRun || result.state !== 'done') return;
      announce(t('import.done', { count: result.created + result.changed }));
      followCategories(plan.collection, ...plan.createMissing);
    } catch (error) {
      if (!isAborted(error)) step.value = stepAfter(error, before);
      complain(error);
    }
  };
  return (plan, key) => void run(plan, key, step.value);
}

/** Where the user goes on after an import, or a check, that has failed. */
function stepAfter(error: unknown, before: Step): Step {
  // A 429 says that the file was not taken.
  const isRefused = error instanceof ApiError && error.status === 429;
  const unanswered = isPassing(error) && !isRefused;
  return before.kind === 'report' ? { ...before, unanswered } : before;
}

/** @throws Error if a row is broken. */
function sentFile({ file, mapping, headless }: Plan): SentFile {
  try {
    return mappedFile(file, mapping, currency.value, headless);
  } catch (error) {
    if (!(error instanceof BrokenRow)) throw error;
    const { row, cells } = error;
    const text =
      cells === null ? t('import.misquoted', { row }) : t('import.cells', { row, ...cells });
    throw new Error(text, { cause: error });
  }
}

interface OutcomeProps {
  readonly step: Extract<Step, { kind: 'running' | 'report' }>;
  readonly progress: Import | null;
  readonly children: ComponentChildren;
}

/** One region for what is done and what came of it: text in one that is new is often not announced. */
function Outcome({ step, progress, children }: OutcomeProps) {
  return (
    <section class="panel">
      <div role="status">
        {step.kind === 'running' ? (
          <p>{progressText(progress, step.dryRun)}</p>
        ) : (
          <h2>{step.unanswered ? t('import.state.unknown') : outcomeText(step.result)}</h2>
        )}
      </div>
      {step.kind === 'running' && <Progress state={progress} />}
      {children}
    </section>
  );
}

/** What has come of an import that has ended. */
function outcomeText({ dry_run: dryRun, state, created, changed }: Import): string {
  if (state === 'refused' || state === 'failed') return t(`import.state.${state}`);
  if (!dryRun) return t('import.state.done');
  return t(created + changed === 0 ? 'import.state.nothing' : 'import.state.ready');
}

function progressText(state: Import | null, dryRun: boolean): string {
  if (state === null) return t('import.sending');
  return t(dryRun || state.state === 'checking' ? 'import.checking' : 'import.writing', {
    count: state.state === 'writing' ? writtenRows(state) : state.rows,
  });
}

function writtenRows({ created, changed, unchanged }: Import): number {
  return created + changed + unchanged;
}

function Progress({ state }: { readonly state: Import | null }) {
  const known = state?.state === 'writing' && state.rows > 0;
  return (
    <progress
      aria-label={t('import.progress')}
      {...(known && { max: state.rows, value: writtenRows(state) })}
    />
  );
}
