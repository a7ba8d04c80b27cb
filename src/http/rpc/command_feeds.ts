import type { Deps } from '../../operations/deps.ts';
import { type CommandNews, followCommands } from '../../operations/rpc/follow_commands.ts';

type Listener = (news: CommandNews) => void;

interface Feed {
  listeners: Set<Listener>;
  ready: Promise<void>;
  ending: AbortController;
}

/** The tenants whose commands somebody here wants to hear of: each is followed once, however many listen. */
export class CommandFeeds {
  readonly #deps: Deps;
  readonly #feeds = new Map<string, Feed>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Tells `listener` of every command that is asked or decided from now on, until what it returns is called.
   * @throws Fault `unavailable` when the tenant cannot be followed now.
   */
  async join(tenantId: string, listener: Listener): Promise<() => void> {
    const feed = this.#feeds.get(tenantId) ?? this.#open(tenantId);
    feed.listeners.add(listener);
    const leave = (): void => {
      feed.listeners.delete(listener);
      if (feed.listeners.size > 0) return;
      feed.ending.abort();
      if (this.#feeds.get(tenantId) === feed) this.#feeds.delete(tenantId);
    };
    try {
      await feed.ready;
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  #open(tenantId: string): Feed {
    const listeners = new Set<Listener>();
    const ending = new AbortController();
    const tell = (news: CommandNews): void => {
      for (const listener of listeners) listener(news);
    };
    const ready = followCommands(this.#deps, tenantId, tell, ending.signal);
    const feed = { listeners, ready, ending };
    this.#feeds.set(tenantId, feed);
    return feed;
  }
}
