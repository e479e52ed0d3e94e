/** The queue of events: what a slow reader receives. */
import { expect, test } from "vitest";
import { EventQueue } from "../../../wasm/js/chain/events.js";
import type { ChainEvent, SourceStatus } from "../../../wasm/js/index.js";

const source = (index: number, state: SourceStatus["state"]): ChainEvent => ({
  type: "source",
  source: { index, kind: "node", url: "", state },
});

const tip = (height: number): ChainEvent => ({
  type: "tip",
  tip: { height, id: "", timestamp: 0, work: 1n },
});

const synced = (height: number): ChainEvent => ({ ...tip(height), type: "synced" }) as ChainEvent;

const disagreement = (index: number, size: number): ChainEvent => ({
  type: "disagreement",
  source: { index, kind: "node", url: "", state: "following" },
  common: { height: 0, id: "" },
  ours: { blocks: [], work: 0n },
  theirs: { blocks: [], work: 0n },
  evidence: new Uint8Array(size),
});

const reorg: ChainEvent = {
  type: "reorg",
  tip: { height: 5, id: "", timestamp: 0, work: 1n },
  common: { height: 0, id: "" },
  depth: 0,
  reverted: { blocks: [], work: 0n },
  adopted: { blocks: [], work: 0n },
};

async function drained(queue: EventQueue): Promise<ChainEvent[]> {
  queue.end();
  const events = [];
  for (;;) {
    const { done, value } = await queue.next();
    if (done) return events;
    events.push(value);
  }
}

test("unread tips, progress and states are replaced by newer ones", async () => {
  const queue = new EventQueue();
  for (let height = 0; height < 1000; height += 1) {
    queue.push(tip(height));
    queue.push({ type: "progress", read: height, checked: height, target: 1000 });
    queue.push(synced(height));
  }
  const progress = { type: "progress", read: 999, checked: 999, target: 1000 };
  expect(await drained(queue)).toEqual([tip(999), progress, synced(999)]);
  const other = new EventQueue();
  [source(0, "following"), source(1, "behind"), source(0, "unresponsive")].forEach((event) => {
    other.push(event);
  });
  expect(await drained(other)).toEqual([source(1, "behind"), source(0, "unresponsive")]);
});

test("a tip does not overtake a reorganisation", async () => {
  const [queue, other] = [new EventQueue(), new EventQueue()];
  for (const event of [tip(1), reorg, tip(6), tip(7)]) queue.push(event);
  expect(await drained(queue)).toEqual([tip(1), reorg, tip(7)]);
  const deep = { ...reorg, ...source(0, "behind"), type: "deep-reorg" } as ChainEvent;
  for (const event of [tip(1), deep, synced(1), tip(2)]) other.push(event);
  expect(await drained(other)).toEqual([tip(1), deep, synced(1), tip(2)]);
});

test("the proof against a source stays, whatever its later states are", async () => {
  const queue = new EventQueue();
  const proof = { ...source(0, "invalid"), evidence: new Uint8Array(9) } as ChainEvent;
  for (const event of [proof, source(0, "unresponsive"), source(0, "following")]) queue.push(event);
  expect(await drained(queue)).toEqual([proof, source(0, "following")]);
});

test("a reader that is too slow learns how much it missed", async () => {
  const queue = new EventQueue();
  for (let index = 0; index < 100; index += 1) queue.push(disagreement(index, 1 << 20));
  const [missed, ...events] = await drained(queue);
  expect(missed).toEqual({ type: "missed", count: 100 - events.length });
  expect(events.length).toBeGreaterThan(3);
  expect(events.length).toBeLessThan(9);
  expect(events.at(-1)).toMatchObject({ source: { index: 99 } });
});

test("readers wait, and an error is thrown once", async () => {
  const queue = new EventQueue();
  const [first, second, third] = [queue.next(), queue.next(), queue.next()];
  queue.push(tip(1));
  expect(await first).toEqual({ done: false, value: tip(1) });
  queue.end(new Error("over"));
  queue.push(tip(2));
  await expect(second).rejects.toThrow("over");
  expect(await third).toEqual({ done: true, value: undefined });
  expect(await queue.next()).toEqual({ done: true, value: undefined });
  const other = new EventQueue();
  other.push(tip(1));
  other.end(new Error("over"));
  expect(await other.next()).toMatchObject({ value: tip(1) });
  await expect(other.next()).rejects.toThrow("over");
  expect(await other.next()).toEqual({ done: true, value: undefined });
});
