import {
  FileStore,
  RandomX,
  RandomXError,
  type ChainEvent,
  type RandomXErrorCode,
  type Store,
} from "randomx-web";
import { checkMoneroTs } from "randomx-web/monero-ts";
import { createVm, initCache, load } from "randomx-web/sync";

const randomx: RandomX = await RandomX.create({ threads: "auto", wasmUrl: "https://a.example/x" });
const { valid, hash: found } = await randomx.verifyBlock({
  seedHash: "00",
  hashingBlob: new Uint8Array(),
  difficulty: 1n,
});
// A block that cannot be parsed has no hash.
const hash: Uint8Array | string = found ?? "00";
const hashes: Uint8Array[] = await randomx.hashMany(hash, [hash], { version: 2 });
const code = (thrown: unknown): RandomXErrorCode | undefined =>
  thrown instanceof RandomXError ? thrown.code : undefined;
// @ts-expect-error Versions are 1 and 2.
await randomx.hash(hash, hash, { version: 3 });
for await (const each of randomx.hashMany(hash, new Set(["00"]))) hashes.push(each);
for await (const each of randomx.hashMany(hash, ["00"])) hashes.push(each);

const store: Store = new FileStore("chain");
await using chain = randomx.follow([{ node: "http://a" }, { relay: new URL("http://b"), fetch }], {
  network: "stagenet",
  store,
});
// @ts-expect-error A source is a node or a relay.
randomx.follow([{ url: "http://a" }]);
function described(event: ChainEvent): string {
  switch (event.type) {
    case "tip":
      return `${event.tip.height} ${event.tip.work + 1n}`;
    case "reorg":
      return event.reverted.blocks.map(({ id }) => id).join();
    case "stale":
      // Only one kind of alarm has an age.
      return event.alarm === "stale" ? String(event.age) : event.alarm;
    default:
      return event.type;
  }
}
const lines: string[] = [];
for await (const event of chain) lines.push(described(event));
const confirmations: number | undefined = (await chain.find("00"))?.confirmations;
await randomx[Symbol.asyncDispose]();

await load(new URL("https://a.example/x"));
// @ts-expect-error The source is an address or a module.
await load(42);
const bytes: Uint8Array = createVm(initCache(hash), { version: 2 }).calculateHash("00");

export { bytes, checkMoneroTs, code, confirmations, hashes, lines, valid };
