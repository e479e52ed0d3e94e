/** Helpers for tests that follow chains. */
import type { ChainEvent, ChainFollower } from "../../../wasm/js/index.js";

/** Takes events up to one that a test waits for. */
export async function collect(
  chain: ChainFollower,
  isLast: (event: ChainEvent) => boolean,
): Promise<ChainEvent[]> {
  const events: ChainEvent[] = [];
  for (;;) {
    const { done, value } = await chain.next();
    if (done) return events;
    events.push(value);
    if (isLast(value)) return events;
  }
}

/** Takes events until the chain has been followed to its end. */
export function untilSynced(chain: ChainFollower): Promise<ChainEvent[]> {
  return collect(chain, ({ type }) => type === "synced");
}

/** Takes events until a block is the tip. */
export async function untilTip(chain: ChainFollower, id: string): Promise<ChainEvent[]> {
  return chain.tip?.id === id ? [] : collect(chain, () => chain.tip?.id === id);
}

/** Returns the last event of a type. */
export function eventOf<T extends ChainEvent["type"]>(
  events: readonly ChainEvent[],
  type: T,
): Extract<ChainEvent, { type: T }> | undefined {
  return events.findLast((event) => event.type === type) as
    Extract<ChainEvent, { type: T }> | undefined;
}
