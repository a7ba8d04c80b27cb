import type { IncomingMessage } from 'node:http';

/** What the node server adds to a request; absent where the app is called without one. */
export interface Bindings {
  incoming?: IncomingMessage;
}
