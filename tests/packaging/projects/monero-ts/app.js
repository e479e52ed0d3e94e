import moneroTs from "monero-ts";
import { RandomX } from "randomx-web";
import { checkMoneroTs } from "randomx-web/monero-ts";

/** Follows a source's chain, and asks a node about it through monero-ts. */
globalThis.ask = async ({ source, node, height, altered, workerUrl, ...urls }) => {
  const randomx = await RandomX.create({ threads: 1, workerUrl, ...urls });
  const chain = randomx.follow([{ node: source }], { network: "regtest", poll: 1 });
  while ((await chain.next()).value.type !== "synced");
  const unverified = [];
  checkMoneroTs(moneroTs, chain, { onUnverified: (method) => unverified.push(method) });
  const daemon = await moneroTs.connectToDaemonRpc({ server: node, proxyToWorker: false });
  const failure = (promise) => promise.then(String, ({ message }) => message);
  const result = {
    height: await daemon.getHeight(),
    tip: (await daemon.getLastBlockHeader()).getHash(),
    block: (await daemon.getBlockByHeight(height)).getHash(),
    lie: await failure(daemon.getBlockByHeight(altered)),
    worker: await failure(moneroTs.connectToDaemonRpc({ server: node, proxyToWorker: true })),
    unverified,
  };
  await chain.close();
  randomx.dispose();
  return result;
};
