import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const isMissing = (name: string): boolean => !existsSync(join(ROOT, name));

describe('SECURITY.md', () => {
  const security = read('SECURITY.md');

  test('names tests that exist', () => {
    const named = [...security.matchAll(/`((?:test|sdk)\/[^`]*)`/g)].map((match) => match[1] ?? '');
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(isMissing)).toEqual([]);
  });

  test('says what is not defended', () => {
    const { length } = security.split('## What is not defended')[1]?.match(/^- \*\*/gm) ?? [];
    expect(length).toBeGreaterThan(8);
  });
});

describe('the container image', () => {
  const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');

  test('copies files that the context has', () => {
    const ignored = read('.dockerignore').trim().split('\n');
    const sources = lines.flatMap((line) => {
      const words = /^COPY (?!--from)(.*)/.exec(line)?.[1]?.split(' ') ?? [];
      return words.slice(0, -1);
    });
    expect(sources).toEqual(expect.arrayContaining(['package-lock.json', 'drizzle', 'policies']));
    expect(sources.filter(isMissing)).toEqual([]);
    expect(sources.filter((source) => ignored.includes(source))).toEqual([]);
  });

  test('runs as an ordinary user and is asked whether it lives', () => {
    expect(lines.lastIndexOf('USER node')).toBeGreaterThan(
      lines.findLastIndex((line) => /^FROM /.test(line)),
    );
    expect(lines.find((line) => line.startsWith('HEALTHCHECK'))).toContain('/livez');
  });

  test('is started with the command that `npm start` runs after the build', () => {
    const command = JSON.parse(/^CMD (\[.*\])$/m.exec(lines.join('\n'))?.[1] ?? '[]') as string[];
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
    expect(scripts.start.endsWith(command.join(' '))).toBe(true);
    expect(command.length).toBeGreaterThan(2);
  });
});

test('docker-compose.yml publishes to loopback only', () => {
  const ports = [...read('docker-compose.yml').matchAll(/ports:\n((?: +- .*\n)+)/g)].map((match) => match[1]);
  expect(ports).toEqual([expect.stringMatching(/^ +- "127\.0\.0\.1:8080:8080"\n$/)]);
});

test('the changelog has the version of the package', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(read('CHANGELOG.md')).toContain(`\n## [${version}]`);
});

test('.ci/run can be executed', () => {
  expect(() => accessSync(join(ROOT, '.ci/run'), constants.X_OK)).not.toThrow();
});
