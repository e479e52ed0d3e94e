/** The bytes that each check examines. */
import type { CheckName } from "../../../wasm/js/index.js";
import { hex } from "../../shell/words.js";
import type { Answer } from "./answer.js";
import type { Examined } from "./checks.js";
import type { Part } from "./parts.js";
import { bytesOf, type Subject } from "./subject.js";

/** Stands for a hash of 32 bytes that is not computed yet. */
const PENDING = "··".repeat(32);

/** Returns the bytes that a check examines, as far as they are known before the answer. */
export function examinedBy(
  check: CheckName,
  subject: Subject,
  parts: readonly Part[],
  answer: Answer | undefined,
): Examined[] {
  const id = answer ? answer.id && hex(answer.id) : PENDING;
  const hash = answer ? answer.hash && hex(answer.hash) : PENDING;
  const ofBlock = parts.flatMap(({ name, hex, checks }, part) =>
    checks.includes(check) ? [{ name, hex, part }] : [],
  );
  switch (check) {
    case "block":
      return [{ name: subject.block ? "Block blob" : "Hashing blob", hex: bytesOf(subject) }];
    case "hashing-blob":
      return subject.hashingBlob && subject.block
        ? [{ name: "Given hashing blob", hex: subject.hashingBlob }]
        : [];
    case "id":
      return given({
        "Keccak-256 of the length of the hashing blob, and the blob": id,
        Expected: subject.expectedId,
      });
    case "seed-hash":
      return given({ "Seed hash": subject.seedHash });
    case "proof-of-work":
      return given({ "Key: the seed hash": subject.seedHash, "RandomX hash": hash });
    default:
      return ofBlock;
  }
}

function given(named: Record<string, string | null | undefined>): Examined[] {
  return Object.entries(named).flatMap(([name, hex]) => (hex ? [{ name, hex }] : []));
}
