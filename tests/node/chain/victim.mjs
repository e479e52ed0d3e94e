/**
 * Uses the package against the server of `attacks.ts`, and prints as JSON what each attack cost: the
 * longest turn of the main thread, in milliseconds of its own processor time, the growth of the process,
 * in bytes, and how many calls had an answer. Arguments: the server's address, the name of harmless
 * answers, and the attacks.
 */
import { MoneroNode, RandomX } from "../../../wasm/dist/js/index.js";
import { attackedBy } from "./attacked.mjs";

const [url, harmless, ...attacks] = process.argv.slice(2);

const randomx = await RandomX.create({ threads: 1 });
// Everything is loaded once before anything is measured.
await attackedBy({ MoneroNode, randomx }, `${url}/${harmless}`);
const costs = {};
for (const attack of attacks) {
  let answered = 0;
  const cost = await costOf(async () => {
    answered = await attackedBy({ MoneroNode, randomx }, `${url}/${attack}`);
  });
  costs[attack] = { ...cost, answered };
}
randomx.dispose();
console.log(JSON.stringify(costs));

/** Measures the longest turn and the growth while some work is done. */
async function costOf(work) {
  globalThis.gc();
  const before = process.memoryUsage().rss;
  let [turn, most, isDone] = [0, before, false];
  const measured = (async () => {
    let last = threadMs();
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = threadMs();
      turn = Math.max(turn, now - last);
      // Reading it takes a moment, which is not the package's.
      most = Math.max(most, process.memoryUsage.rss());
      last = threadMs();
    }
  })();
  await work();
  isDone = true;
  await measured;
  return { turn, grown: most - before };
}

/** Other processes take no part of this time. */
function threadMs() {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
