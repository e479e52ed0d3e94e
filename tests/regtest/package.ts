/** The package, verifying a node's chain as a wallet would. */
import { MoneroNode } from "../../wasm/js/monero/node.js";
import type {
  ChainCheckpoint,
  ChainVerdict,
  RandomX,
  VerifyChainOptions,
} from "../../wasm/js/index.js";

/** What a run came to: the verdicts, and the error's code where one ended it. */
export interface PackageRun {
  verdicts: ChainVerdict[];
  checkpoint?: ChainCheckpoint | undefined;
  code?: unknown;
}

/** Verifies blocks; what the node says about those before them is believed. */
export async function verifyBlocks(
  randomx: RandomX,
  url: string,
  [first, last]: [number, number],
  options: VerifyChainOptions = {},
): Promise<PackageRun> {
  const node = new MoneroNode(url, { timeout: 1000, retries: 0 });
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

/** The checks that the last verdict failed. */
export function failedChecks({ verdicts }: PackageRun): string[] {
  const checks = verdicts.at(-1)?.checks ?? [];
  return checks.filter(({ passed }) => passed === false).map(({ name }) => name);
}

/** Bytes, or none, in hex. */
export function hex(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString("hex");
}
