import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import postgres from 'postgres';
import { loadConfig } from '../../src/cli/config.ts';
import { type Service, startService } from '../../src/cli/service.ts';
import { startEmbeddedPostgres } from '../../src/storage/embedded/embedded_postgres.ts';
import { ApiClient } from '../support/api_client.ts';
import { launchBrowser } from '../support/browser.ts';
import { type Example, fillWithExamples } from './browser/example_data.ts';

// Pictures of the main pages on a new service with example data: `npm run screenshots -- FOLDER`.

const SCREENS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};

interface Shot {
  name: string;
  path: string;
}

function shotsOf(example: Example): Shot[] {
  return [
    { name: 'queue', path: '/console' },
    { name: 'command', path: `/console/approvals/${example.command}` },
    { name: 'edited', path: `/console/approvals/${example.edited}` },
    { name: 'destructive', path: `/console/approvals/${example.destructive}` },
    { name: 'votes', path: `/console/approvals/${example.halfVoted}` },
    { name: 'history', path: '/console/history' },
    { name: 'sessions', path: '/console/sessions' },
    { name: 'agent', path: '/console/agents/support-bot' },
  ];
}

/** Fills the service as its first keys. */
async function fill({ url, firstKeys }: Service, sql: postgres.Sql) {
  if (firstKeys === undefined) throw new Error('a new database had keys');
  const { APPROVER, APPROVER2, OPERATOR } = firstKeys.tokens;
  const as = (token: string) => new ApiClient(url, token);
  const example = await fillWithExamples({
    ...{ as, approver: as(APPROVER), approver2: as(APPROVER2), operator: as(OPERATOR) },
    expireIn: async (id, seconds) => {
      await sql`update approvals set expires_at = clock_timestamp() + make_interval(secs => ${seconds})
        where approval_id = ${id.slice(4)}::uuid`;
    },
  });
  return { example, key: APPROVER };
}

async function signIn(page: Page, origin: string, key: string): Promise<void> {
  await page.goto(`${origin}/console/sign-in`);
  await page.getByLabel('Key').fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${origin}/console`);
}

/** One picture of what a screen shows, and one of the page to its end. */
async function shoot(page: Page, origin: string, { name, path }: Shot, file: string): Promise<void> {
  await page.goto(origin + path);
  if (path === '/console' || path.startsWith('/console/approvals/')) {
    await page.locator('#connection', { hasText: 'Live' }).waitFor();
  }
  await page.screenshot({ path: `${file}.png` });
  await page.screenshot({ path: `${file}-whole.png`, fullPage: true });
  console.log(name, path);
}

async function shootAll(browser: Browser, origin: string, key: string, shots: Shot[], folder: string) {
  for (const [screen, viewport] of Object.entries(SCREENS)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
      const page = await context.newPage();
      await signIn(page, origin, key);
      for (const shot of shots) {
        await shoot(page, origin, shot, join(folder, `${shot.name}-${screen}-${colorScheme}`));
      }
      await context.close();
    }
  }
}

async function takeScreenshots(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const dataDir = mkdtempSync(join(tmpdir(), 'aegis-screenshots-'));
  const database = await startEmbeddedPostgres({ dataDir });
  const { databaseUrl } = database;
  const config = loadConfig({ PORT: '0', DATABASE_URL: databaseUrl, AEGIS_DATA_DIR: dataDir });
  const log = { info: () => undefined, warn: () => undefined, error: console.error };
  const service = await startService({ config, log });
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  const browser = await launchBrowser();
  try {
    const { example, key } = await fill(service, sql);
    const origin = `http://localhost:${new URL(service.url).port}`;
    await shootAll(browser, origin, key, shotsOf(example), folder);
  } finally {
    await browser.close();
    await sql.end();
    await service.close();
    await database.stop();
    rmSync(database.homeFolder, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await takeScreenshots(process.argv[2] ?? 'dist/screenshots');
