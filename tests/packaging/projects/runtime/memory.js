import { RandomX } from "randomx-web";

/** Prepares and releases six caches in turn, and prints the largest resident size in MiB. */
const randomx = await RandomX.create({ threads: 2 });
let most = 0;
for (let round = 0; round < 6; round += 1) {
  const key = Uint8Array.of(round);
  await randomx.prepare(key);
  await randomx.release(key);
  most = Math.max(most, process.memoryUsage().rss / 2 ** 20);
}
console.log(JSON.stringify(most));
