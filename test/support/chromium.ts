/** Chromium as the tests and the benchmarks start it. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/**
 * The first one that is there is used. The shell has the same engine without windows, tabs and
 * menus, which take more than half of the CPU time of a new context.
 */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

export const CHROMIUM =
  process.env['CHROMIUM'] || BROWSERS.find((path) => existsSync(path)) || '/usr/bin/chromium';

export const available = existsSync(CHROMIUM);

/**
 * The address bar of each window is a page of its own, of more than a hundred scripts. It takes two
 * thirds of the CPU time of a new context, and nobody sees it.
 */
const ADDRESS_BAR = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];

/** Those of playwright's own list that matter here: Chromium takes one list, and this one is last. */
const AS_PLAYWRIGHT = [
  'AimEnabled',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
];

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[...AS_PLAYWRIGHT, ...ADDRESS_BAR].join(',')}`,
];

/**
 * A page of a test lives for seconds. Without the engine's optimising compilers that takes a tenth
 * less CPU time. The code that runs is the same.
 */
const SHORT_LIVED = '--js-flags=--no-maglev,--no-opt';

/** @param isMeasured whether the time that scripts take counts: then they are compiled as usual. */
export function launch(isMeasured = false): Promise<Browser> {
  const args = isMeasured ? ARGS : [...ARGS, SHORT_LIVED];
  return chromium.launch({ executablePath: CHROMIUM, args, headless: true });
}
