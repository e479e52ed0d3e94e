/** The parts of a hash by themselves, in this browser. */
import { Client } from "../../engine/explorer/client.js";
import type { Part } from "../../engine/explorer/protocol.js";

/** How much each does in a second, as far as they have been measured. */
export type Parts = Partial<Record<Part, number>>;

const ALL: readonly Part[] = [
  "Blake2b",
  "Blake2bLong",
  "Aes1R",
  "Aes4R",
  "AesHash1R",
  "Superscalar",
];

/** How long each is measured. */
const MILLISECONDS = 300;

/** Measures all parts in a worker; `onParts` hears of each with those before it. */
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
      const rate = await client.ask("part", { part, milliseconds: MILLISECONDS }, { signal });
      parts = { ...parts, [part]: rate };
      onParts(parts);
    }
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}
