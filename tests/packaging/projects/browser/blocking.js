import { createVm, initCache, load } from "randomx-web/sync";
import { block } from "./block.js";

globalThis.onmessage = async ({ data: { wasmUrl } }) => {
  if (wasmUrl) await load(wasmUrl);
  const hash = createVm(initCache(block.seedHash)).calculateHash(block.hashingBlob);
  globalThis.postMessage(Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join(""));
};
