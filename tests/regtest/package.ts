/** Verifies a node's chain with the package, as a wallet would. */
import { MoneroNode } from "../../wasm/js/monero/node.js";
import type {
  ChainCheckpoint,
  ChainVerdict,
  RandomX,
  VerifyChainOptions,
} from "../../wasm/js/index.js";

/** The result of a run: verdicts, and the code of the error that ended it, if any. */
export interface PackageRun {
  verdicts: ChainVerdict[];
  checkpoint?: ChainCheckpoint | undefined;
  code?: unknown;
}

/** Verifies blocks. The node is trusted about the blocks before them. An answer may take `timeout` milliseconds. */
export async function verifyBlocks(
  randomx: RandomX,
  url: string,
  [first, last]: [number, number],
  options: VerifyChainOptions = {},
  timeout = 60_000,
): Promise<PackageRun> {
  const node = new MoneroNode(url, { timeout, retries: 0 });
  const verdicts: ChainVerdict[] = [];
  try {
    const checkpoint = options.checkpoint ?? (await node.getCheckpoint(first - 1));
    const blocks = node.getBlocks(first, last);
    const chain = randomx.verifyChain(blocks, { ...options, checkpoint, network: "regtest" });
    for await (const verdict of chain) verdicts.push(verdict);
    return { verdicts, checkpoint: chain.checkpoint };
  } catch (error) {
    return { verdicts, code: (error as { code?: unknown }).code };
  }
}

/** Returns the checks that failed in the last verdict. */
export function failedChecks({ verdicts }: PackageRun): string[] {
  const checks = verdicts.at(-1)?.checks ?? [];
  return checks.filter(({ passed }) => passed === false).map(({ name }) => name);
}

/** Encodes bytes in hex; missing ones as an empty string. */
export function hex(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString("hex");
}
