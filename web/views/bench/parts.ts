/** Measures the parts of a hash in this browser. */
import { Client } from "../../engine/explorer/client.js";
import type { Part } from "../../engine/explorer/protocol.js";

/** Rates per second of the parts measured so far. */
export type Parts = Partial<Record<Part, number>>;

const ALL: readonly Part[] = [
  "Blake2b",
  "Blake2bLong",
  "Aes1R",
  "Aes4R",
  "AesHash1R",
  "Superscalar",
];

/** How long each part is measured. */
const MILLISECONDS = 300;

/** Measures all parts in a worker. `onParts` receives the rates so far after each part. */
export async function measureParts(
  signal: AbortSignal,
  onParts: (parts: Parts) => void,
): Promise<void> {
  const client = new Client();
  const end = (): void => {
    client.close();
  };
  signal.addEventListener("abort", end);
  try {
    let parts: Parts = {};
    for (const part of ALL) {
      const rate = await client.request("part", { part, milliseconds: MILLISECONDS }, { signal });
      parts = { ...parts, [part]: rate };
      onParts(parts);
    }
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}
