/** Two Monero daemons for specs. They share their first blocks, then each mines alone. */
import { Daemon } from "../regtest/daemon.js";

/** Why specs that need Monero's daemon are skipped, or nothing if they can run. */
export const NO_DAEMON = process.env.MONEROD_PATH
  ? undefined
  : "MONEROD_PATH does not name Monero's daemon";

/** Starts two daemons with so many common blocks of difficulty 1, and stops them after `work`. */
export async function withTwoDaemons(
  common: number,
  work: (a: Daemon, b: Daemon) => Promise<void>,
): Promise<void> {
  const [a, b] = await Daemon.startTwo();
  try {
    await a.generate(common);
    await b.copy(a, 1, common);
    await work(a, b);
  } finally {
    await Promise.all([a.stop(), b.stop()]);
  }
}

/** Returns the id of the miner's transaction in a daemon's block. */
export async function minerTransaction(daemon: Daemon, height: number): Promise<string> {
  const { block_header: header } = (await daemon.call("get_block_header_by_height", {
    height,
  })) as { block_header: { miner_tx_hash: string } };
  return header.miner_tx_hash;
}
