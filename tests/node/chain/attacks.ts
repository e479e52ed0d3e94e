/** A server whose answers are long, deep or many, to see what they cost the caller. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
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

/** Starts the server. Returns its address and the function that stops it. */
export async function startAttacks(): Promise<{ url: string; stop: () => void }> {
  const server = createServer((request, response) => {
    void answer(request, response);
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

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, attack = "", ...path] = (request.url ?? "").split("/");
  let body = "";
  for await (const part of request) body += String(part);
  response.setHeader("Access-Control-Allow-Origin", "*");
  // What makes a client go on asking is answered well.
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
    response.end(BOMB);
  } else if (attack === "largest" || attack === HARMLESS) {
    response.end(wellFormed(path, body, attack === HARMLESS ? 1 / 256 : 1));
  } else {
    endless(BODIES[attack] ?? ["", chunk(" ")], response);
  }
}

function endless([start, next]: [string, Buffer], response: ServerResponse): void {
  response.write(start);
  const more = (): void => {
    while (!response.destroyed && response.write(next));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}
