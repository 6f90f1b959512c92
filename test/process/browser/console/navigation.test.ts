/** Ways through the console: addresses, the buttons of the browser, the keyboard (spec 13.4). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { testInBrowser } from '../browser.ts';
import { faults, stage } from './console.ts';

const scene = stage();

testInBrowser('the first link leads the keyboard past the navigation', async () => {
  const { at, visit } = scene();
  const visitor = await visit('editor');
  const { page } = visitor;
  await page.goto(at('/brands/2'));
  const name = page.getByLabel('Name');
  await name.fill('Not saved yet');
  await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
  await page.keyboard.press('Tab');
  assert.is(await page.evaluate('document.activeElement.textContent'), '← Back to the list');
  assert.is(await page.getByRole('alertdialog').count(), 0);
  assert.is(await name.inputValue(), 'Not saved yet');
  assert.equal(faults(visitor), []);
  await page.context().close();
});

test.run();
