import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where distributions put it; AEGIS_TEST_CHROMIUM names another. */
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const named = process.env.AEGIS_TEST_CHROMIUM;

/** The Chromium to test with, or undefined where there is none. */
export const chromiumPath = (named === undefined ? PATHS : [named]).find((path) => existsSync(path));

if (chromiumPath === undefined) {
  console.warn(
    'SKIPPED: the tests in a browser. There is no Chromium here: install the package `chromium`, or name one in AEGIS_TEST_CHROMIUM',
  );
}

/** Starts a browser without a window, with a profile of its own, that calls nobody by itself. */
export function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new TypeError('there is no Chromium here; skip the test');
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
