/** The costs of hostile sources for the caller: time of the main thread, and memory. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { latestNode } from "../../programs.js";
import { ANSWERED, ATTACKS, HARMLESS, startAttacks } from "./attacks.js";

/** A version that reports the processor time of a thread. */
const NODE = latestNode();
const VICTIM = fileURLToPath(new URL("victim.mjs", import.meta.url));

const MIB = 1 << 20;

/** The quick tests leave out attacks that cost less. */
const CHOSEN =
  process.env.RANDOMX_TESTS === "full"
    ? ATTACKS
    : ["objects", "keys", "digits", "zeros", "largest"];

/** The limits of what an attack may cost, in milliseconds and bytes. */
const MOST = { turn: 50, grown: 32 * MIB };

interface Cost {
  turn: number;
  grown: number;
  /** Calls of a node that had an answer. */
  answered: number;
}

let server: { url: string; stop: () => void };
const costs = new Map<string, Cost>();

/** Measures attacks in a new process, and keeps the least cost of each. */
async function measure(attacks: readonly string[]): Promise<void> {
  const given = ["--expose-gc", VICTIM, server.url, HARMLESS, ...attacks];
  const { stdout } = await promisify(execFile)(NODE, given);
  for (const [attack, cost] of Object.entries(JSON.parse(stdout) as Record<string, Cost>)) {
    const { turn, grown } = costs.get(attack) ?? { turn: Infinity, grown: Infinity };
    costs.set(attack, {
      ...cost,
      turn: Math.min(turn, cost.turn),
      grown: Math.min(grown, cost.grown),
    });
  }
}

function isOver({ turn, grown }: Cost): boolean {
  return turn >= MOST.turn || grown >= MOST.grown;
}

beforeAll(async () => {
  server = await startAttacks();
  await measure(CHOSEN);
  // On a busy machine the garbage collector may come late, once. Memory that the package keeps is kept each time.
  for (let more = 0; more < 2; more += 1) {
    const over = [...costs].filter(([, cost]) => isOver(cost)).map(([attack]) => attack);
    if (over.length > 0) await measure(over);
  }
}, 600_000);

afterAll(() => {
  server.stop();
});

test.each(CHOSEN)(
  "%s keep the main thread for less than 50 ms, and take less than 32 MiB",
  (name) => {
    const cost = costs.get(name);
    expect(cost?.answered, "calls with an answer").toBe(ANSWERED[name] ?? 0);
    expect(cost?.turn, "milliseconds").toBeLessThan(MOST.turn);
    expect(cost?.grown, "bytes").toBeLessThan(MOST.grown);
  },
);
