/** The languages besides the one that is shown. */
import { LANGUAGES, type Language } from './messages/language.ts';
import { chooseLanguage, language } from './messages/text.ts';
import { complain } from './parts/notices.tsx';

/** One button for each, in its own language. The choice is kept for the next visit. */
export function LanguageChoice() {
  const others = (Object.keys(LANGUAGES) as Language[]).filter((each) => each !== language.value);
  return (
    <p class="languages">
      {others.map((code, at) => (
        <button
          // The same button for another language keeps the focus.
          key={at}
          type="button"
          class="plain"
          lang={code}
          onClick={() => void chooseLanguage(code).catch(complain)}
        >
          {LANGUAGES[code]}
        </button>
      ))}
    </p>
  );
}
