/** Lies of a node about one block, and the check or error that detects each. */
import type { ServerResponse } from "node:http";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { NONCE } from "./mine.js";
import type { Alter, Result } from "./proxy.js";

/** A lie about the block at a height. */
export interface Lie {
  name: string;
  alter: (height: number) => Alter;
  /** The checks that fail, at the height or after it. */
  checks?: string[];
  /** Otherwise the error's code in the package, and a part of its message on the command line. */
  code?: string;
  sentence?: string;
  /** The time limit in seconds, of a lie that reaches it. */
  timeout?: number;
}

/** Alters the response about a block. */
function block(change: (result: Result, response: ServerResponse) => boolean | undefined) {
  return (height: number): Alter =>
    (result, { method, params }, response) =>
      method === "get_block" && params.height === height ? change(result, response) : undefined;
}

/** Alters the blob of a block. */
export function blob(change: (bytes: Buffer) => Buffer) {
  return block((result) => {
    result.blob = change(Buffer.from(result.blob, "hex")).toString("hex");
    return undefined;
  });
}

/** Replaces the bytes from `start` to `end`. */
function splice(bytes: Buffer, start: number, end: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(end)]);
}

/** A number in ten bytes that needs more than 64 bits. */
const HUGE = Buffer.from("ffffffffffffffffff7f", "hex");

/** A number of transactions that does not fit into the blob. */
const MANY = Buffer.from("ffffffff0f", "hex");

/** The previous id follows two versions of one byte each and a timestamp of five. */
const PREVIOUS_ID = 7;

/** Lies that can be detected from the block's bytes alone. */
export const LIES: Lie[] = [
  {
    name: "a flipped nonce",
    alter: blob((bytes) => {
      bytes.writeUInt8(bytes.readUInt8(NONCE) ^ 1, NONCE);
      return bytes;
    }),
    checks: ["id"],
  },
  {
    name: "a wrong previous id",
    alter: blob((bytes) => {
      bytes.writeUInt8(bytes.readUInt8(PREVIOUS_ID) ^ 1, PREVIOUS_ID);
      return bytes;
    }),
    checks: ["id", "previous-id"],
  },
  {
    name: "another id",
    alter: block((result) => {
      result.block_header.hash = "11".repeat(32);
      return undefined;
    }),
    checks: ["id"],
  },
  {
    name: "a lowered difficulty",
    alter: block((result) => {
      const { wide_difficulty } = result.block_header;
      const claimed = BigInt(wide_difficulty);
      result.block_header.wide_difficulty = `0x${(claimed === 1n ? 2n : claimed - 1n).toString(16)}`;
      return undefined;
    }),
    checks: ["difficulty"],
  },
  {
    name: "a truncated blob",
    alter: blob((bytes) => bytes.subarray(0, bytes.length - 20)),
    checks: ["block"],
  },
  {
    name: "a huge number for the time",
    alter: blob((bytes) => splice(bytes, 2, PREVIOUS_ID, HUGE)),
    checks: ["block"],
  },
  {
    name: "a huge number of transactions",
    alter: blob((bytes) => splice(bytes, bytes.length - 1, bytes.length, MANY)),
    checks: ["block"],
  },
  {
    name: "a wrong height in the header",
    alter: block((result) => {
      result.block_header.height += 1;
      return undefined;
    }),
    code: "node-invalid",
    sentence: "block_header.height: expected ",
  },
  {
    name: "a wrong height in the block",
    alter: blob((bytes) => {
      const input = bytes.indexOf(Buffer.from([1, 0xff]), NONCE + 4) + 2;
      bytes.writeUInt8(bytes.readUInt8(input) ^ 1, input);
      return bytes;
    }),
    checks: ["height", "id"],
  },
  {
    name: "a blob that is not hex",
    alter: block((result) => {
      result.blob = `${result.blob}zz`;
      return undefined;
    }),
    code: "node-invalid",
    sentence: "blob: ",
  },
  {
    name: "a response of 100 MB",
    alter: block((_, response) => {
      const chunk = Buffer.alloc(1 << 20, "0,");
      let left = 100;
      response.write('{"extra":[');
      const more = (): void => {
        while (left > 0 && !response.destroyed) {
          left -= 1;
          if (!response.write(chunk)) {
            response.once("drain", more);
            return;
          }
        }
        response.end();
      };
      more();
      return true;
    }),
    code: "node-too-large",
    sentence: "expected an answer of at most 8388608 bytes, got more",
  },
  {
    name: "a response that never ends",
    alter: block((_, response) => {
      const timer = setInterval(() => response.write(" "), 50);
      response.once("close", () => {
        clearInterval(timer);
      });
      return true;
    }),
    code: "node-timeout",
    sentence: "no answer within 5000 ms",
    timeout: 5,
  },
];

/** Returns a block's id: Keccak-256 of its hashing blob after the blob's length, one byte. */
export function idOf(hashingBlob: Uint8Array): string {
  const bytes = Buffer.concat([Buffer.from([hashingBlob.length]), hashingBlob]);
  return Buffer.from(keccak_256(bytes)).toString("hex");
}
