/** A server whose answers are long, deep or many, to see what they cost the caller. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { wellFormed } from "./well-formed.js";

const CHUNK = 64 << 10;

/** Repeats a text up to the length of a chunk. */
function chunk(text: string): Buffer {
  return Buffer.from(text.repeat(Math.ceil(CHUNK / text.length)));
}

/** Compressed a thousand times: 64 MiB of spaces. */
const BOMB = gzipSync(Buffer.alloc(64 << 20, " "));

/** The bodies: how each begins, and what follows without an end. */
const BODIES: Record<string, [string, Buffer]> = {
  spaces: ["", chunk(" ")],
  arrays: ['{"result":{"status":"OK","headers":[', chunk("[],")],
  objects: ['{"result":{"status":"OK","headers":[', chunk("{},")],
  nested: ['{"result":{"status":"OK","headers":[', chunk('{"headers":[{},{}]},')],
  unwanted: ['{"result":{"status":"OK","other":[', chunk('{"a":[1,2,"x"]},')],
  depth: ["", chunk("[")],
  keys: ['{"result":{', chunk('"0123456789abcdef":0,')],
  digits: ['{"result":{"status":"OK","blob":"', chunk("0a")],
  escapes: ['{"error":{"message":"', chunk("\\u0041")],
  zeros: ["", Buffer.alloc(CHUNK)],
};

/** The names of the attacks, which are the first part of a path. */
export const ATTACKS = [...Object.keys(BODIES), "bomb", "largest"];

/** The name of answers that cost nothing, to load everything once before anything is measured. */
export const HARMLESS = "harmless";

/** The calls of a node that have an answer, by attack: with a well-formed one, all. */
export const ANSWERED: Record<string, number> = { [HARMLESS]: 7, largest: 7 };

/**
 * Starts the server. Returns its address and the function that stops it. The attacks share `rate` bytes a second.
 */
export async function startAttacks(rate = Infinity): Promise<{ url: string; stop: () => void }> {
  const limit = new RateLimit(rate);
  const server = createServer((request, response) => {
    void answer(request, response, limit);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  limit: RateLimit,
): Promise<void> {
  const [, attack = "", ...path] = (request.url ?? "").split("/");
  let body = "";
  for await (const part of request) body += String(part);
  response.setHeader("Access-Control-Allow-Origin", "*");
  // Answers that make a client go on asking are valid.
  if (path.at(-1) === "tip") {
    response.end(JSON.stringify({ height: 5_000_000, id: "ab".repeat(32) }));
  } else if (body.includes('"get_info"') && !path.includes("whole")) {
    const result = {
      ...{ status: "OK", height: 5_000_000, top_block_hash: "ab".repeat(32) },
      ...{ wide_difficulty: "0x1", nettype: "fakechain", synchronized: true },
    };
    response.end(JSON.stringify({ result }));
  } else if (attack === "bomb") {
    response.setHeader("Content-Encoding", "gzip");
    await whole(BOMB, response, limit);
  } else if (attack === "largest" || attack === HARMLESS) {
    await whole(wellFormed(path, body, attack === HARMLESS ? 1 / 256 : 1), response, limit);
  } else {
    await endless(BODIES[attack] ?? ["", chunk(" ")], response, limit);
  }
}

/** Sends an answer and its length. */
async function whole(bytes: Buffer, response: ServerResponse, limit: RateLimit): Promise<void> {
  response.setHeader("Content-Length", bytes.length);
  for (let at = 0; at < bytes.length && !response.destroyed; at += CHUNK) {
    await send(bytes.subarray(at, at + CHUNK), response, limit);
  }
  response.end();
}

async function endless(
  [start, next]: [string, Buffer],
  response: ServerResponse,
  limit: RateLimit,
): Promise<void> {
  response.write(start);
  while (!response.destroyed) await send(next, response, limit);
}

/** Writes a chunk, then waits for the rate limit and the response's buffer. */
async function send(bytes: Buffer, response: ServerResponse, limit: RateLimit): Promise<void> {
  response.write(bytes);
  const wait = limit.take(bytes.length);
  if (wait > 0) await pause(wait);
  if (!response.writableNeedDrain || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** A rate limit that answers share. */
class RateLimit {
  /** Bytes a millisecond. */
  readonly #speed: number;
  #freeAt = 0;

  constructor(rate: number) {
    this.#speed = rate / 1000;
  }

  /** Takes bytes. Returns the milliseconds to wait before the next ones, or 0 if less than 1. */
  take(bytes: number): number {
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now) + bytes / this.#speed;
    const wait = this.#freeAt - now;
    return wait < 1 ? 0 : wait;
  }
}
