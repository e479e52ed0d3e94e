/** Results of verifications as JSON and as links. */
import { link } from "../../shell/router.js";
import { hex } from "../../shell/words.js";
import { heightOf, type Answer } from "./answer.js";
import type { Subject } from "./subject.js";

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

/** Returns a link that verifies the block alone, unless the block is too long or a chain rejected it. */
export function asLink(subject: Subject): string | undefined {
  const { example, block, hashingBlob, seedHash, difficulty, expectedId, height } = subject;
  if (subject.rejected) return undefined;
  if (example !== undefined) return link("verify", { block: String(example) });
  const query = new URLSearchParams({ from: "paste", seed: seedHash, difficulty });
  query.set("block", block ?? hashingBlob ?? "");
  if (expectedId !== undefined) query.set("id", expectedId);
  if (height !== undefined) query.set("height", String(height));
  const address = link("verify", query);
  return address.length > LONGEST_LINK ? undefined : address;
}
