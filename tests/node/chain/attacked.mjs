/** Uses the package against one attack of `attacks.ts`: a node's calls, and sources that are followed. */

/** Milliseconds that a call may take on a busy machine. All attacks end earlier, at a limit of the package. */
const TIMEOUT = 30_000;

/** The time for which the sources are followed, in milliseconds. */
const FOLLOWED = 1500;

/** Sources that attack together. */
const SOURCES = 4;

/** How a call ends that notices an attack, in contrast to one that cannot reach the server. */
const NOTICED = /^node-(?:too-large|invalid|timeout)$/u;

/** Suffers an attack, and returns the number of calls that had an answer all the same. */
export async function attackedBy({ MoneroNode, randomx }, address) {
  const ended = await Promise.allSettled(calls(MoneroNode, address));
  for (const { reason } of ended) if (reason && !NOTICED.test(reason.code)) throw reason;
  const sources = Array.from({ length: SOURCES }, (_, index) =>
    index % 2 === 0 ? { node: address } : { relay: address },
  );
  const chain = randomx.follow(sources, { network: "regtest", timeout: 500, poll: 1 });
  setTimeout(() => void chain.close(), FOLLOWED);
  for await (const event of chain) if (event.type === "tip" && event.tip.height > 0) throw event;
  return ended.filter(({ status }) => status === "fulfilled").length;
}

/** Calls of a node, as many as one caller makes at a time. */
function calls(MoneroNode, address) {
  const node = new MoneroNode(address, { timeout: TIMEOUT, retries: 0 });
  const whole = new MoneroNode(`${address}/whole`, { timeout: TIMEOUT, retries: 0 });
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
