import type { Assets } from './assets.ts';
import type { ConsoleOptions } from './console_options.ts';

/** What every handler of the console works with. */
export interface Frame extends ConsoleOptions {
  assets: Assets;
}
