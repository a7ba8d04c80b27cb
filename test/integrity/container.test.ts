import { execFileSync } from 'node:child_process';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { describe, test } from 'vitest';
import { walkThrough } from '../support/walk_through.ts';

/** The oldest PostgreSQL served and the newest there is. */
const IMAGES = ['postgres:14-alpine', 'postgres:18-alpine'];
const DOCKER_ANSWER_MS = 5000;
const PULL_AND_RUN_MS = 300_000;

/** Why there is no Docker to run containers with; undefined where it answers. */
function findObstacle(): string | undefined {
  try {
    execFileSync('docker', ['info'], { stdio: 'pipe', timeout: DOCKER_ANSWER_MS });
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error);
  }
}

const obstacle = findObstacle();
if (obstacle !== undefined) {
  console.warn(`SKIPPED: the tests on PostgreSQL containers need Docker, which does not answer: ${obstacle}`);
}

describe.skipIf(obstacle !== undefined)('a PostgreSQL container', () => {
  test.each(IMAGES)(
    '%s serves the whole walk-through',
    async (image) => {
      const container = await new PostgreSqlContainer(image).start();
      try {
        await walkThrough(container.getConnectionUri());
      } finally {
        await container.stop();
      }
    },
    PULL_AND_RUN_MS,
  );
});
