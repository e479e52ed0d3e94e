/** A block to verify, and the claims about it. */
import { invalidArgument } from "../../../wasm/js/errors.js";
import * as validate from "../../../wasm/js/validate.js";
import { whole } from "../../shell/words.js";
import type { Answer } from "./answer.js";

/** Bytes are in hex and the difficulty in decimal digits, as people type them. */
export interface Subject {
  /** The source, as a heading. */
  origin: string;
  /** The block's name, if it does not rest on the sender's claim alone. */
  title?: string;
  /** The height of the example, if it is one. */
  example?: number;
  /** The block blob, or else the hashing blob. With both, the two are compared. */
  block?: string;
  hashingBlob?: string;
  seedHash: string;
  difficulty: string;
  /** The name of the difficulty, if it is not the one that the chain or the form requires. */
  difficultyName?: string;
  expectedId?: string;
  height?: number;
  /** Why a chain rejected it. Alone it may be valid, since a node claims its difficulty. */
  rejected?: Answer;
}

/** The lengths of hashing blobs. A block is longer, because of its miner transaction. */
export const HASHING_BLOB = { least: 72, most: 96 };

/** Returns whether bytes are a block or a hashing blob, by their length, since both begin alike. */
export function kindOf(hex: string): "block" | "hashingBlob" {
  return hex.length / 2 > HASHING_BLOB.most ? "block" : "hashingBlob";
}

/** Returns a height that was typed, perhaps with commas, as this page writes it. */
export function height(name: string, text: string): number {
  if (!/^(?:\d+|\d{1,3}(?:,\d{3})+)$/u.test(text)) {
    throw invalidArgument(name, "expected decimal digits only");
  }
  return validate.height(name, Number(text.replaceAll(",", "")));
}

/** Returns the subject's bytes. */
export function bytesOf({ block, hashingBlob }: Subject): string {
  return block ?? hashingBlob ?? "";
}

/** Returns a copy with another last digit in one byte, and says so. The claims stay as they were. */
export function altered(subject: Subject, byte: number): Subject {
  const hex = bytesOf(subject);
  const at = 2 * byte + 1;
  const digit = (Number.parseInt(hex.charAt(at), 16) ^ 1).toString(16);
  const changed = hex.slice(0, at) + digit + hex.slice(at + 1);
  const copy = {
    ...subject,
    origin: `${subject.origin}; byte ${whole(byte)} is changed`,
    [subject.block === undefined ? "hashingBlob" : "block"]: changed,
  };
  delete copy.example;
  return copy;
}
