/**
 * Uses the package against the server of `attacks.ts`, and prints as JSON what each attack cost: the
 * longest turn of the main thread, in milliseconds of its own processor time, and the growth of the
 * process, in bytes. Arguments: the server's address, and the attacks.
 */
import { MoneroNode, RandomX } from "../../../wasm/dist/js/index.js";

const [url, ...attacks] = process.argv.slice(2);

/** The time for each attack by sources that are followed, in milliseconds. */
const FOLLOWED = 1500;

/** Sources that attack together. */
const SOURCES = 4;

const randomx = await RandomX.create({ threads: 1 });
// Everything is loaded once before anything is measured.
await attackedBy("spaces");
const costs = {};
for (const attack of attacks) costs[attack] = await costOf(() => attackedBy(attack));
randomx.dispose();
console.log(JSON.stringify(costs));

async function attackedBy(attack) {
  const failed = await Promise.allSettled(calls(`${url}/${attack}`));
  if (failed.some(({ status }) => status === "fulfilled"))
    throw new Error(`${attack} was no attack`);
  const sources = Array.from({ length: SOURCES }, (_, index) =>
    index % 2 === 0 ? { node: `${url}/${attack}` } : { relay: `${url}/${attack}` },
  );
  const chain = randomx.follow(sources, { network: "regtest", timeout: 500, poll: 1 });
  setTimeout(() => void chain.close(), FOLLOWED);
  for await (const event of chain) if (event.type === "tip" && event.tip.height > 0) throw event;
}

/** Calls of a node, as many as one caller makes at a time. */
function calls(address) {
  const node = new MoneroNode(address, { timeout: 2000, retries: 0 });
  const whole = new MoneroNode(`${address}/whole`, { timeout: 2000, retries: 0 });
  const ahead = node.getBlocks(1, 1000, { ahead: 64 });
  return [
    whole.getInfo(),
    node.getBlockHeaderByHeight(1),
    node.getBlockHeadersRange(1, 1000),
    node.getTransactionHeight("00".repeat(32)),
    node.getBlock(1),
    node.getBlock(2),
    ahead.next(),
  ];
}

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
