/** Disposes of an instance that computes a dataset, and waits until the add-on holds nothing: `freeing.js ADDON`. */
import { createRequire } from "node:module";
import { setTimeout } from "node:timers/promises";
import { RandomX } from "randomx-web";

const addon = createRequire(import.meta.url)(process.argv[2]);
const held = () => [addon.cacheCount(), addon.datasetCount()];
const randomx = await RandomX.create({ threads: 2, engine: "native", mode: "auto" });
await randomx.hash("00", "00");
const before = held();
await randomx[Symbol.asyncDispose]();
while (held().some((count) => count > 0)) await setTimeout(20);
console.log(JSON.stringify(before));
