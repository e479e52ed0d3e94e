import { RandomX, RandomXError, type RandomXErrorCode } from "randomx-web";
import { createVm, initCache } from "randomx-web/sync";

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
await randomx[Symbol.asyncDispose]();

const bytes: Uint8Array = createVm(initCache(hash), { version: 2 }).calculateHash("00");

export { bytes, code, hashes, valid };
