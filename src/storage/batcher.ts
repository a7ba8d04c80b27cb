import { Fault } from '../core/fault.ts';
import { type Deadline, guarded, startDeadline } from './database_errors.ts';

export interface BatcherOptions<Request, Answer> {
  /** Sends requests as one statement; answers in the order of the requests. */
  send: (batch: Request[]) => Promise<Answer[]>;
  batchMax: number;
  /** Statements under way at once; what arrives meanwhile makes the next batch. */
  inFlightMax: number;
}

interface Waiting<Request, Answer> {
  request: Request;
  deadline: Deadline;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Sends what arrives together as one statement: under load one round trip and one commit serve many requests, and
 * alone a request waits for nobody. A row that makes the statement fail fails its own request alone: the batch is
 * sent again one by one. A lost database fails them all, and whoever waited too long in the queue is not sent.
 */
export function createBatcher<Request, Answer>(
  options: BatcherOptions<Request, Answer>,
): (request: Request) => Promise<Answer> {
  const queue: Waiting<Request, Answer>[] = [];
  let inFlight = 0;
  let scheduled = false;

  const sendAlone = async (waiting: Waiting<Request, Answer>): Promise<void> => {
    try {
      const [answer] = await options.send([waiting.request]);
      waiting.resolve(answer as Answer);
    } catch (error) {
      waiting.reject(error);
    }
  };

  const sendBatch = async (batch: Waiting<Request, Answer>[]): Promise<void> => {
    try {
      const answers = await options.send(batch.map((waiting) => waiting.request));
      batch.forEach((waiting, index) => {
        waiting.resolve(answers[index] as Answer);
      });
    } catch (error) {
      if (batch.length === 1 || error instanceof Fault) for (const waiting of batch) waiting.reject(error);
      else await Promise.all(batch.map(sendAlone));
    }
  };

  const takeBatch = (): Waiting<Request, Answer>[] =>
    queue.splice(0, options.batchMax).filter(({ deadline }) => !deadline.hasPassed());

  const flush = (): void => {
    scheduled = false;
    while (queue.length > 0 && inFlight < options.inFlightMax) {
      const batch = takeBatch();
      if (batch.length === 0) continue;
      inFlight += 1;
      void sendBatch(batch).finally(() => {
        inFlight -= 1;
        schedule();
      });
    }
  };

  const schedule = (): void => {
    if (scheduled || queue.length === 0) return;
    scheduled = true;
    // After the sockets that are readable now were read: their requests travel together.
    setImmediate(flush);
  };

  return (request) =>
    guarded(
      () =>
        new Promise<Answer>((resolve, reject) => {
          queue.push({ request, deadline: startDeadline(), resolve, reject });
          schedule();
        }),
    );
}

const SHARED_READ = { batchMax: 256, inFlightMax: 2 };

/**
 * Reads values by key; callers that arrive together share one statement, and those of one key one value, which none
 * of them may change. What a caller gets was read after it asked.
 */
export function createSharedRead<Value>(
  read: (keys: string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  const send = async (keys: string[]): Promise<(Value | undefined)[]> => {
    const values = await read([...new Set(keys)]);
    return keys.map((key) => values.get(key));
  };
  return createBatcher({ send, ...SHARED_READ });
}
