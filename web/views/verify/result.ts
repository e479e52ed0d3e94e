/** Results of verifications as JSON and as links. */
import type { BlockStatus, Check } from "../../../wasm/js/index.js";
import { link } from "../../shell/router.js";
import { hex } from "../../shell/words.js";
import type { Subject } from "./subject.js";

/** The package's answer for a single block or one of a chain. */
export interface Answer {
  status: BlockStatus;
  valid: boolean;
  hash: Uint8Array | null;
  id: Uint8Array | null;
  height: number | null;
  checks: Check[];
}

/** Tells whether the bytes are a block or a hashing blob. If not, the answer's height is only the sender's claim. */
export function isBlock({ checks }: Answer): boolean {
  return checks.some(({ name, passed }) => name === "block" && passed === true);
}

/** Returns the block's height, or `null` if it is unknown. */
export function heightOf(answer: Answer): number | null {
  return isBlock(answer) ? answer.height : null;
}

/** Formats a result as JSON, which the page can read as a pasted or dropped block. */
export function asJson(subject: Subject, answer: Answer): string {
  const { origin, block, hashingBlob, seedHash, difficulty, expectedId, height: claimed } = subject;
  const claims = { seedHash, difficulty, expectedId, height: claimed };
  const given = { block, hashingBlob, ...claims };
  const { status, valid, hash, id, checks } = answer;
  const height = heightOf(answer);
  const found = { status, valid, height, id: id && hex(id), hash: hash && hex(hash), checks };
  return `${JSON.stringify({ origin, ...found, given }, undefined, 2)}\n`;
}

/** The longest link; servers and messengers cut longer ones. */
const LONGEST_LINK = 2000;

/** Returns a link that verifies the block again, unless the block is too long. */
export function asLink(subject: Subject): string | undefined {
  const { example, block, hashingBlob, seedHash, difficulty, expectedId, height } = subject;
  if (example !== undefined) return link("verify", { block: String(example) });
  const query = new URLSearchParams({ from: "paste", seed: seedHash, difficulty });
  query.set("block", block ?? hashingBlob ?? "");
  if (expectedId !== undefined) query.set("id", expectedId);
  if (height !== undefined) query.set("height", String(height));
  const address = link("verify", query);
  return address.length > LONGEST_LINK ? undefined : address;
}
