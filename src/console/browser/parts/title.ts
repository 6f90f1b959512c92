/** The title of the window, by which the user finds its tab. */
import { useEffect } from 'preact/hooks';
import { t } from '../messages/text.ts';

/** @param title of the screen, in the language that is shown. */
export function useTitle(title: string): void {
  const whole = `${title} – ${t('app.name')}`;
  useEffect(() => {
    document.title = whole;
  }, [whole]);
}
