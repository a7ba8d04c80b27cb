import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'sdk/typescript/test/**/*.test.ts'],
    globalSetup: ['test/support/global_setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
