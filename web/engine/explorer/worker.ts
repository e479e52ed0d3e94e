/** The worker that explores hashes. It answers one request after another. */
import loadWasm, {
  CacheFill,
  measurePart,
  superscalar,
  type Explorer,
} from "../../../wasm/explore/pkg/randomx_explore_wasm.js";
import { compile } from "../../../wasm/js/environment.js";
import { asRandomXError, RandomXError } from "../../../wasm/js/errors.js";
import { hex } from "../../../wasm/js/monero/hex.js";
import { checkSupport } from "../../../wasm/js/support.js";
import type {
  FromWorker,
  Look,
  Progress,
  RequestName,
  Requests,
  Subject,
  ToWorker,
} from "./protocol.js";

/** Blocks that are filled between two checks for messages, which takes some milliseconds. */
const STEP = 8192;

let loaded: Promise<void> | undefined;
let held: { key: string; explorer: Explorer } | undefined;
let isAborted = false;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === "abort") isAborted = true;
  else void reply(data);
};

async function reply(request: Extract<ToWorker, { type: "request" }>): Promise<void> {
  isAborted = false;
  try {
    await (loaded ??= load());
    send({ type: "answer", answer: await answer(request) });
  } catch (thrown) {
    const { code, message } = asRandomXError(thrown);
    send({ type: "failure", code, message });
  }
}

function answer(
  request: Extract<ToWorker, { type: "request" }>,
): Promise<Requests[RequestName]["answer"]> {
  switch (request.name) {
    case "look":
      return look(request.args);
    case "count":
      return count(request.args);
    case "superscalar":
      return Promise.resolve(superscalar(request.args.key, request.args.number));
    case "part":
      return Promise.resolve(measurePart(request.args.part, request.args.milliseconds));
  }
}

async function look({ key, input, version, program }: Requests["look"]["args"]): Promise<Look> {
  const explorer = await explorerOf(key);
  report({ phase: "hashes", done: 0 });
  const exploration = explorer.explore(version, input, program);
  return {
    exploration,
    integers: explorer.integerRegisters() as BigUint64Array<ArrayBuffer>,
    floats: explorer.floatRegisters() as Float64Array<ArrayBuffer>,
    written: explorer.writeMap() as Uint8Array<ArrayBuffer>,
  };
}

async function count(args: Requests["count"]["args"]): Promise<Requests["count"]["answer"]> {
  const explorer = await explorerOf(args.key);
  explorer.clear();
  for (let number = 0; number < args.hashes; number += 1) {
    await pause();
    explorer.add(args.version, numbered(args, number));
    report({ phase: "hashes", done: (number + 1) / args.hashes });
  }
  return explorer.figures();
}

/** Returns the input followed by a counter of 4 bytes. */
function numbered({ input }: Subject, number: number): Uint8Array {
  const bytes = new Uint8Array(input.length + 4);
  bytes.set(input);
  new DataView(bytes.buffer).setUint32(input.length, number, true);
  return bytes;
}

/** Returns the explorer of a key. Frees the cache of the previous key first. */
async function explorerOf(key: Uint8Array): Promise<Explorer> {
  const name = hex(key);
  if (held?.key === name) return held.explorer;
  held?.explorer.free();
  held = undefined;
  const fill = new CacheFill(key);
  try {
    for (let done = 0; done < 1; done = fill.fill(STEP)) {
      report({ phase: "cache", done });
      await pause();
    }
  } catch (error) {
    fill.free();
    throw error;
  }
  held = { key: name, explorer: fill.finish() };
  return held.explorer;
}

async function load(): Promise<void> {
  checkSupport();
  const own = new URL("../../../wasm/explore/pkg/randomx_explore_wasm_bg.wasm", import.meta.url);
  try {
    await loadWasm({ module_or_path: await compile(own) });
  } catch (error) {
    loaded = undefined;
    throw error;
  }
}

/** Handles the messages that have arrived, and throws if one of them was an abort. */
async function pause(): Promise<void> {
  await new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
  if (isAborted) throw new RandomXError("aborted", "the work was aborted");
}

function report(progress: Progress): void {
  send({ type: "progress", progress });
}

function send(message: FromWorker): void {
  self.postMessage(message);
}
