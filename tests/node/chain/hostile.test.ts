/** What hostile sources can cost the caller: time of the main thread, and memory. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ATTACKS, startAttacks } from "./attacks.js";

/** A version that tells the processor time of a thread. */
const NODE = fileURLToPath(new URL("../../../node_modules/node/bin/node", import.meta.url));
const VICTIM = fileURLToPath(new URL("victim.mjs", import.meta.url));

const MIB = 1 << 20;

/** The quick tests leave out attacks that cost less. */
const CHOSEN =
  process.env.RANDOMX_TESTS === "full" ? ATTACKS : ["objects", "keys", "digits", "zeros"];

let server: { url: string; stop: () => void };
let costs: Record<string, { turn: number; grown: number }>;

beforeAll(async () => {
  server = await startAttacks();
  const { stdout } = await promisify(execFile)(NODE, [
    "--expose-gc",
    VICTIM,
    server.url,
    ...CHOSEN,
  ]);
  costs = JSON.parse(stdout) as typeof costs;
}, 600_000);

afterAll(() => {
  server.stop();
});

test.each(CHOSEN)(
  "%s keep the main thread for less than 50 ms, and take less than 32 MiB",
  (name) => {
    const { turn = Infinity, grown = Infinity } = costs[name] ?? {};
    expect(turn, "milliseconds").toBeLessThan(50);
    expect(grown, "bytes").toBeLessThan(32 * MIB);
  },
);
