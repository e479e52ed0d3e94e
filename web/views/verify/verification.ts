/** One verification as it is seen: the cache filling, the hash, the difficulties, the verdict. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { RandomXError, type Progress } from "../../../wasm/js/index.js";
import { engine } from "../../engine/engine.js";
import { find } from "../../shell/page.js";
import { duration, failure, whole } from "../../shell/words.js";

/** A block in the form that people type: bytes in hex, the difficulty in decimal digits. */
export interface TypedBlock {
  seedHash: string;
  hashingBlob: string;
  difficulty: string;
}

/** Where a verification is; the page's style goes by it. */
type State =
  "idle" | "waiting" | "filling" | "hashing" | "valid" | "invalid" | "failed" | "cancelled";

type PartName = "percent" | "elapsed" | "hash-time" | "hash" | "demanded" | "met" | "verdict";

/** A view in one place of the page, for one verification after another. */
export class Verification {
  readonly #root: HTMLElement;
  readonly #progress: HTMLProgressElement;

  /** Builds the view in the element that is marked `data-verification="name"`. */
  constructor(name: string) {
    this.#root = find(document, `[data-verification="${name}"]`, HTMLElement);
    this.#root.append(find(document, "#verification", HTMLTemplateElement).content.cloneNode(true));
    this.#progress = find(this.#root, "progress", HTMLProgressElement);
    this.#enter("idle", "");
  }

  /** Verifies a block whose fields are well formed, and shows how it goes. Never rejects. */
  async run(block: TypedBlock, signal?: AbortSignal): Promise<void> {
    this.#clear(block);
    const start = performance.now();
    let filled = start;
    const onProgress = ({ phase, done }: Progress): void => {
      if (phase !== "cache") return;
      // A first call that says 1 tells of a cache that was held already.
      if (done < 1 || this.#root.dataset.state === "filling") filled = performance.now();
      this.#fill(done, filled - start);
    };
    try {
      const randomx = await engine();
      const { valid, hash, checks } = await randomx.verifyBlock(block, { signal, onProgress });
      if (hash) {
        this.#show("hash", bytesToHex(hash));
        this.#show("hash-time", duration(performance.now() - filled));
        this.#show("met", whole(difficultyMet(hash)));
      }
      if (valid) {
        this.#enter("valid", "Verified: the hash meets the difficulty. The work was done.");
      } else {
        const failed = checks.find(({ passed }) => passed === false);
        this.#enter("invalid", `Rejected: ${failed?.detail ?? "the block is not valid"}.`);
      }
    } catch (error) {
      const cancelled = error instanceof RandomXError && error.code === "aborted";
      this.#enter(cancelled ? "cancelled" : "failed", failure(error));
    }
  }

  #clear({ difficulty }: TypedBlock): void {
    for (const part of ["hash", "hash-time", "met", "elapsed"] as const) this.#show(part, "");
    this.#show("demanded", whole(BigInt(difficulty)));
    this.#progress.value = 0;
    this.#show("percent", "waiting");
    this.#enter("waiting", "Starting…");
  }

  #fill(done: number, ms: number): void {
    this.#progress.value = done;
    this.#show("percent", `${Math.floor(100 * done)} %`);
    this.#show("elapsed", ms > 0 ? duration(ms) : "held already");
    if (done < 1) this.#enter("filling", "Filling the cache…");
    else this.#enter("hashing", "Hashing the blob…");
  }

  #enter(state: State, words: string): void {
    if (this.#root.dataset.state === state) return;
    this.#root.dataset.state = state;
    this.#show("verdict", words);
  }

  #show(part: PartName, text: string): void {
    find(this.#root, `[data-part="${part}"]`, HTMLElement).textContent = text;
  }
}

/** The largest difficulty that a hash meets: 2^256 / hash, read as little-endian. */
function difficultyMet(hash: Uint8Array): bigint {
  const value = BigInt(`0x${bytesToHex(hash.toReversed())}`);
  const limit = (1n << 256n) - 1n;
  return value === 0n ? limit : limit / value;
}
