/** Messages that are shown for a while and announced: `status` for news, `alert` for failures. */
import { effect, signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { NoAnswer } from '../api/answer.ts';
import { ApiError, isAborted, isGone, isPassing } from '../api/client.ts';
import { isSaving, whileSaving } from '../saving.ts';
import { answered } from '../api/session.ts';
import { throttled } from '../throttled.ts';
import { ConsoleUpdated } from '../load-chunk.ts';
import { path } from '../location.ts';
import { serverText, t } from '../messages/text.ts';

export interface Notice {
  readonly id: number;
  readonly kind: 'status' | 'alert';
  readonly text: string;
  /** What can be done about it. After a failure that may pass, it is offered again. */
  readonly action: { readonly label: string; readonly run: () => Promise<void> } | null;
  /**
   * What ends a message about a failure: any later answer; the answer to a later write, or another
   * screen; a later write, or another screen; only another screen; null for nothing.
   */
  readonly until: 'answered' | 'asked again' | 'written' | 'left' | null;
  /** Milliseconds since the navigation. */
  readonly added: number;
}

/** How long news are shown that offer nothing; failures and offers stay until they are closed. */
const SHOWN_MS = 8000;

/** How long an offer to undo stays. */
const OFFERED_MS = 60_000;

/** Messages that are shown at the same time. */
const MAX_SHOWN = 4;

const notices = signal<readonly Notice[]>([]);

let count = 0;

function add(
  kind: Notice['kind'],
  text: string,
  action: Notice['action'],
  until: Notice['until'] = null,
): void {
  count += 1;
  const id = count;
  // An offer to undo is one for each item, also if they are called the same.
  const others = notices.value.filter((each) => each.text !== text || isOffer(each));
  // The newest is the first that is reached after F8.
  notices.value = [{ id, kind, text, action, until, added: performance.now() }, ...cut(others)];
  if (kind === 'status') setTimeout(() => expire(id), action === null ? SHOWN_MS : OFFERED_MS);
}

/** The oldest news make room for another message, and failures only if there are no news. */
function cut(shown: readonly Notice[]): readonly Notice[] {
  if (shown.length < MAX_SHOWN) return shown;
  const at = shown.findLastIndex(({ kind }) => kind === 'status');
  return shown.filter((_, index) => index !== (at === -1 ? shown.length - 1 : at));
}

function isOffer({ kind, action }: Notice): boolean {
  return kind === 'status' && action !== null;
}

/** Closes news, but not while the user is at the messages. */
function expire(id: number): void {
  if (isUserThere()) setTimeout(() => expire(id), SHOWN_MS);
  else close(id);
}

function isUserThere(): boolean {
  return document.querySelector('.notices:is(:hover, :focus-within)') !== null;
}

effect(() => {
  const { sent, isWrite, isDone } = answered.value;
  const isOver = ({ until, added }: Notice) =>
    added < sent &&
    (until === 'answered' ||
      (isWrite && (until === 'asked again' || (isDone && until === 'written'))));
  closeAll(isOver);
});

effect(() => {
  void path.value;
  // They speak of the screen that the user has left.
  if (!isUserThere()) closeAll(({ until }) => until !== null && until !== 'answered');
});

function closeAll(isOver: (notice: Notice) => boolean): void {
  const left = notices.peek().filter((notice) => !isOver(notice));
  if (left.length < notices.peek().length) notices.value = left;
}

function close(id: number): void {
  notices.value = notices.value.filter((each) => each.id !== id);
}

/** @param action an offer, which stays {@link OFFERED_MS}; news without one {@link SHOWN_MS}. */
export function announce(text: string, action: Notice['action'] = null): void {
  add('status', text, action);
}

/** Says what is not done, and offers to do it, until the user closes it. */
export function offer(text: string, action: NonNullable<Notice['action']>): void {
  add('alert', text, action);
}

/** Says what failed, in the server's words if it was the server. @param until what ends it. */
export function complain(error: unknown, until = endOf(error)): void {
  if (isAborted(error)) return;
  const action = { label: t('error.reload'), run: async () => reload() };
  add('alert', wordsFor(error), error instanceof ConsoleUpdated ? action : null, until);
}

function endOf(error: unknown): Notice['until'] {
  // What a screen reads after a write that was lost says nothing about it.
  if (error instanceof NoAnswer) return error.isWrite ? 'asked again' : 'answered';
  if (error instanceof ConsoleUpdated || isDefect(error)) return null;
  const isOverAfterWrite =
    isPassing(error) || isGone(error) || (error instanceof ApiError && error.status === 403);
  return isOverAfterWrite ? 'written' : 'left';
}

/** Whether a failure is one of the console itself. */
function isDefect(error: unknown): boolean {
  return !(error instanceof Error) || error.name !== 'Error';
}

/** Loads the console again. A form that has unsaved changes lets the user stay. */
export function reload(): void {
  location.reload();
}

/** What a failure means to a person. */
export function wordsFor(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.status === 403) return t('error.forbidden');
    if (error.status === 410) return t('error.gone');
    if (error.status >= 500) return faultText(error);
    if (error.message !== '') return serverText(error.message);
    const status = String(error.status);
    return error.status === 429 ? t('error.tooMany') : t('error.status', { status });
  }
  if (error instanceof ConsoleUpdated) return t('error.updated');
  if (error instanceof NoAnswer) return t('error.network');
  return isDefect(error) ? t('error.defect', { what: String(error) }) : (error as Error).message;
}

/** What a 5xx means. The text of a 500 says nothing, that of a 503 says why. */
function faultText({ status, message }: { status: number; message: string }): string {
  return status === 503 && message !== ''
    ? `${t('error.server')} (${serverText(message)})`
    : t('error.server');
}

/** For signing in: the next user of the window does not see those of the one before. */
export function clearNotices(): void {
  notices.value = [];
}

/** Scrolls to what has the focus if the messages hide it, and leaves room for that. */
function useFocusInSight(region: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const element = region.current;
    if (element === null) return;
    const place = () => {
      const { left, top, height } = element.getBoundingClientRect();
      document.documentElement.style.setProperty('--notices', `${height}px`);
      const focused = document.activeElement;
      if (height === 0 || focused === null || element.contains(focused)) return;
      const shown = focused.getBoundingClientRect();
      const hidden = shown.right > left && shown.bottom > top && shown.top < innerHeight;
      // What is larger, such as the content as a whole, is in sight beside them.
      if (hidden && shown.height < height) focused.scrollIntoView({ block: 'nearest' });
    };
    const observer = new ResizeObserver(place);
    observer.observe(element);
    return () => {
      observer.disconnect();
      document.documentElement.style.removeProperty('--notices');
    };
  }, [region]);
}

/**
 * The region for news is always there: what is put into one that is new is often not announced. An
 * alert is announced when it appears.
 */
export function Notices() {
  const region = useRef<HTMLElement>(null);
  useFocusInSight(region);
  return (
    <section ref={region} class="notices" aria-label={t('notice.region')} tabIndex={-1}>
      {/* Only what is new is announced, not all that is still shown. */}
      <div role="status" aria-atomic="false">
        {(isSaving.value || throttled.value > 0) && (
          <div class="notice status">
            <p>{t(throttled.value > 0 ? 'throttled' : 'saving')}</p>
          </div>
        )}
        {notices.value.filter(({ kind }) => kind === 'status').map(show)}
      </div>
      {notices.value.filter(({ kind }) => kind === 'alert').map(show)}
    </section>
  );
}

function show(notice: Notice) {
  const { id, kind, text } = notice;
  return (
    <div key={id} class={`notice ${kind}`} role={kind === 'alert' ? 'alert' : undefined}>
      <p>{text}</p>
      {notice.action !== null && <ActionButton notice={notice} action={notice.action} />}
      <button type="button" class="icon" aria-label={t('notice.close')} onClick={() => close(id)}>
        <span aria-hidden="true">×</span>
      </button>
    </div>
  );
}

/** Whether an undo may succeed later: what an item refers to may be restored first, for example. */
export function mayPass(error: unknown): boolean {
  return isPassing(error) || (error instanceof ApiError && error.status === 422);
}

interface ActionProps {
  readonly notice: Notice;
  readonly action: NonNullable<Notice['action']>;
}

/** The message stays until it is done: a second press would hit what is behind it. */
function ActionButton({ notice: { id, kind, text }, action }: ActionProps) {
  const busy = useSignal(false);
  const run = async () => {
    if (busy.value) return;
    busy.value = true;
    try {
      await whileSaving(action.run);
      close(id);
    } catch (error) {
      close(id);
      complain(error);
      if (mayPass(error)) add(kind, text, action);
    }
  };
  return (
    // A button that is disabled would lose the focus.
    <button type="button" class="plain" aria-disabled={busy.value} onClick={() => void run()}>
      {action.label}
    </button>
  );
}

interface FailureProps {
  readonly text: string | null;
  readonly onAgain: () => void;
  /** What the button does, if it does not read the screen again. */
  readonly action?: string;
}

/** Why a screen could not be read, with a button that reads it again; nothing if the text is null. */
export function Failure({ text, onAgain, action = t('list.again') }: FailureProps) {
  if (text === null) return null;
  return (
    <div role="alert" class="notice-inline danger-edge">
      <p>{text}</p>
      <button type="button" onClick={onAgain}>
        {action}
      </button>
    </div>
  );
}

/** What prevented something, where it was tried; nothing if it is null. */
export function Problem({ text }: { readonly text: string | null }) {
  if (text === null) return null;
  return (
    <p role="alert" class="problem">
      {text}
    </p>
  );
}
