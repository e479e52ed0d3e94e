/** The store of `RandomX.follow`: what it keeps, and stores that fail or have another state. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as product from "../../../wasm/js/index.js";
import { AnyRandomX as RandomX, RandomXError, fullTest } from "../support.js";
import { chainOf, extended } from "./blocks.js";
import { SimulatedSources } from "./source.js";
import { collect, eventOf, untilSynced, untilTip } from "./support.js";

type Store = product.Store;

const OPTIONS = { network: "regtest", poll: 1 } as const;
const common = chainOf(10);

let randomx: product.RandomX;
const sources = new SimulatedSources();

beforeAll(async () => {
  randomx = await RandomX.create({ threads: 2 });
  await randomx.prepare(product.MAINNET_GENESIS.id);
});

afterAll(async () => {
  randomx.dispose();
  await sources.stop();
});

/** A store whose state a test can read and change. */
function storeOf(state?: Uint8Array): Store & { state: Uint8Array | undefined; saved: number } {
  return {
    state,
    saved: 0,
    load() {
      return Promise.resolve(this.state);
    },
    save(bytes) {
      this.saved += 1;
      this.state = bytes;
      return Promise.resolve();
    },
  };
}

/** Returns bytes whose buffer has moved to another owner. */
function detached(): Uint8Array {
  const bytes = new Uint8Array(1000);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

describe.concurrent("the store", () => {
  test("continues where the client was", async () => {
    const source = await sources.start(extended(common, 20));
    const store = storeOf();
    const first = randomx.follow([{ relay: source.url }], { ...OPTIONS, store });
    await untilSynced(first);
    await first.close();
    expect(store.saved).toBeGreaterThan(0);
    const asked = source.count("headers");
    const second = randomx.follow([{ relay: source.url }], { ...OPTIONS, store });
    const [tip] = await collect(second, ({ type }) => type === "tip");
    expect(tip).toMatchObject({ type: "tip", tip: { height: 30, id: source.tip.id } });
    await untilSynced(second);
    await second.close();
    expect(source.count("headers")).toBe(asked);
  });

  test("has each tip that is reported", async () => {
    const source = await sources.start(common);
    const store = storeOf();
    const first = randomx.follow([{ relay: source.url }], { ...OPTIONS, store });
    await untilTip(first, source.tip.id);
    await first.close();
    const second = randomx.follow([{ relay: source.url }], { ...OPTIONS, store });
    const [tip] = await collect(second, ({ type }) => type === "tip");
    await second.close();
    expect(tip).toMatchObject({ tip: { height: 10, id: source.tip.id } });
  });

  test.each([
    ["damaged", new Uint8Array(1000)],
    ["detached", detached()],
  ])("that is %s is a failure, and the client begins anew", async (reason, state) => {
    const source = await sources.start(common);
    const store = storeOf(state);
    const chain = randomx.follow([{ relay: source.url }], { ...OPTIONS, store });
    const events = await untilSynced(chain);
    await chain.close();
    expect(eventOf(events, "failure")).toMatchObject({
      part: "store",
      error: { code: "invalid-argument", message: expect.stringContaining(reason) as string },
    });
    expect(chain.tip?.height).toBe(10);
    expect(store.saved).toBeGreaterThan(0);
  });

  fullTest("of another chain is refused, and stays as it was", async () => {
    const source = await sources.start(common);
    const store = storeOf();
    const first = randomx.follow([{ relay: source.url }], { ...OPTIONS, store });
    await untilSynced(first);
    await first.close();
    const { state } = store;
    const second = randomx.follow([{ relay: source.url }], {
      ...OPTIONS,
      store,
      network: "testnet",
    });
    await expect(collect(second, () => false)).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringMatching(/^store: .*regtest/u) as string,
    });
    expect(store.state).toBe(state);
  });

  fullTest("that fails is a failure, and following goes on", async () => {
    const source = await sources.start(common);
    const store: Store = {
      load: () => Promise.reject(new Error("no disk")),
      save: () => Promise.reject(new Error("full")),
    };
    const chain = randomx.follow([{ relay: source.url }], { ...OPTIONS, store });
    const events = await untilSynced(chain);
    await chain.close();
    const failures = events.filter((event) => event.type === "failure");
    expect(failures.map(({ error }) => error.message)).toEqual(
      expect.arrayContaining(["no disk", "full"]),
    );
    expect(failures.every(({ error }) => error instanceof RandomXError)).toBe(true);
  });
});
