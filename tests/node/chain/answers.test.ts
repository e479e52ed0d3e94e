/** Answers of single sources: their limits, and the numbers in them. */
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { NodeSource, RelaySource } from "../../../wasm/js/chain/sources.js";
import { MAX_HASHING_BLOB } from "../../../wasm/js/validate.js";
import { block, header } from "../fake-node.js";

const URL = "http://127.0.0.1:1";
const { signal } = new AbortController();

function relayThat(answer: Uint8Array<ArrayBuffer>): RelaySource {
  return new RelaySource(URL, {
    timeout: 5000,
    fetch: () => Promise.resolve(new Response(answer)),
  });
}

test("a node's difficulties have 128 bits", async () => {
  const headers = [header(3, { wide_difficulty: "0x20000000000000007" }), header(4)];
  const fetch = (): Promise<Response> =>
    Promise.resolve(Response.json({ result: { status: "OK", headers } }));
  const source = new NodeSource(URL, { timeout: 5000, fetch }, () => undefined, 1);
  const words = new BigUint64Array((await source.difficulties(3, 2, signal)).buffer);
  expect([...words]).toEqual([7n, 2n, 0x1ffn, 0n]);
});

test("a slow node's headers are those that arrive in the time of one answer", async () => {
  const fetch: typeof globalThis.fetch = async (_, options) => {
    await setTimeout(300);
    const { params } = JSON.parse(options?.body as string) as { params: { height: number } };
    return Response.json({ result: block(params.height) });
  };
  const source = new NodeSource(URL, { timeout: 1000, fetch }, () => Uint8Array.of(7), 1);
  const records = await source.headers(1, 200, signal);
  expect(records.length).toBeGreaterThan(0);
  // A thousand milliseconds, three hundred each, eight at once.
  expect(records.length).toBeLessThan(2 * 100);
});

test.each<[string, number, (relay: RelaySource) => Promise<unknown>]>([
  ["headers", 2 * (1 + MAX_HASHING_BLOB), (relay) => relay.headers(1, 2, signal)],
  ["difficulties", 2 * 16, (relay) => relay.difficulties(1, 2, signal)],
])("a relay's %s of two blocks have at most %i bytes", async (_, most, ask) => {
  expect(await ask(relayThat(new Uint8Array(most)))).toHaveLength(most);
  await expect(ask(relayThat(new Uint8Array(most + 1)))).rejects.toMatchObject({
    code: "node-too-large",
  });
});

test("a relay's tip has at most 4 KiB", async () => {
  const tip = (length: number): Promise<unknown> => {
    const json = JSON.stringify({ height: 5, id: "ab".repeat(32) });
    // Pads with an unknown field. Spaces would not do: they have a limit of their own.
    const padded = `${json.slice(0, -1)},"x":["${"0".repeat(length - json.length - 9)}"]}`;
    return relayThat(new TextEncoder().encode(padded)).tip(signal);
  };
  expect(await tip(4096)).toMatchObject({ height: 5 });
  await expect(tip(4097)).rejects.toMatchObject({ code: "node-too-large" });
});
