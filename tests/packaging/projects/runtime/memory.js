import { RandomX } from "randomx-web";

/** Six caches, one after another, each given back: how many MiB the process has at most. */
const randomx = await RandomX.create({ threads: 2 });
let most = 0;
for (let round = 0; round < 6; round += 1) {
  const key = Uint8Array.of(round);
  await randomx.prepare(key);
  await randomx.release(key);
  most = Math.max(most, process.memoryUsage().rss / 2 ** 20);
}
console.log(JSON.stringify(most));
