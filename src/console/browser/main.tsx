/** The entry of the console. */
import { render } from 'preact';
import { keepSession } from './api/session.ts';
import { leaveComposingKeys } from './composing.ts';
import { keepFocus } from './focus-content.ts';
import { followLocation } from './location.ts';
import { startLanguage } from './messages/text.ts';
import { Shell } from './shell.tsx';
import 'shop-colours.css';
import './styles/index.css';

leaveComposingKeys();
followLocation();
keepSession();
keepFocus();
await startLanguage();
const root = document.getElementById('console');
if (root !== null) render(<Shell />, root);
