/** The worker's entry: loads the WebAssembly module and answers one request after another. */
import loadWasm, * as wasm from "../pkg/randomx_wasm.js";
import { goAhead } from "./ahead.js";
import { compile, lockManager, serve } from "./environment.js";
import { RandomXError, asRandomXError } from "./errors.js";
import { Rules } from "./monero/rules.js";
import type { Args, Operation, Request, Result } from "./protocol.js";
import { Session } from "./session.js";
import { checkSupport, chooseFeatures } from "./support.js";

/** What Monero's rules answer. */
type RulesOperation = "seedHeight" | "checkDifficulty" | "examine" | "chainWork" | "chainVerdicts";

let session: Session | undefined;
let rules: Promise<Rules> | undefined;
let moneroWasmUrl: string | undefined;
let filling: AbortController | undefined;

const say = serve((message) => {
  if (message.type === "abort") filling?.abort();
  else void answer(message);
});

async function answer(request: Request): Promise<void> {
  try {
    say({ type: "result", result: await perform(request) });
  } catch (thrown) {
    const { code, message } = asRandomXError(thrown);
    const error = { code, message };
    say(code === "worker-failed" ? { type: "died", error } : { type: "failure", error });
  }
}

function perform(request: Request): Result<Operation> | Promise<Result<Operation>> {
  if (request.operation === "start") return start(request.args);
  if (!session) throw new Error("the worker has not started");
  switch (request.operation) {
    case "allocate":
      return session.allocate(request.args);
    case "fill":
      return fill(session, request.args);
    case "goAhead":
      goAhead(request.args.memory, request.args.front);
      return null;
    case "attach":
      return session.attach(request.args);
    case "release":
      return session.release(request.args);
    case "calibrate":
      return session.calibrate(request.args);
    case "measure":
      return session.measure(request.args);
    case "hash":
      return session.hash(request.args);
    case "commitment":
      return session.commitment(request.args);
    case "loadRules":
      // Who needs them tells why they are not to be had.
      wantRules().catch(() => undefined);
      return null;
    default:
      return judge(request);
  }
}

/** Answers what Monero's rules answer. */
async function judge(
  request: Extract<Request, { operation: RulesOperation }>,
): Promise<Result<RulesOperation>> {
  const loaded = await wantRules();
  switch (request.operation) {
    case "seedHeight":
      return loaded.seedHeight(request.args);
    case "checkDifficulty":
      return loaded.checkDifficulty(request.args);
    case "examine":
      return loaded.examine(request.args);
    case "chainWork":
      return loaded.chainWork(request.args);
    case "chainVerdicts":
      return loaded.chainVerdicts(request.args);
  }
}

/** Not before they are wanted: who only hashes does not load them. */
function wantRules(): Promise<Rules> {
  return (rules ??= loadRules());
}

async function loadRules(): Promise<Rules> {
  const monero = await import("../monero/pkg/randomx_monero_wasm.js");
  const own = new URL("../monero/pkg/randomx_monero_wasm_bg.wasm", import.meta.url);
  await monero.default({ module_or_path: await load(moneroWasmUrl, own) });
  return new Rules(monero);
}

async function start(args: Args<"start">): Promise<Result<"start">> {
  checkSupport();
  const own = new URL("../pkg/randomx_wasm_bg.wasm", import.meta.url);
  const module = args.module ?? (await load(args.wasmUrl, own));
  moneroWasmUrl = args.moneroWasmUrl;
  await loadWasm({ module_or_path: module });
  const { features, bits } = chooseFeatures(wasm.detectFeatures(), args.features);
  session = new Session(wasm, { lanes: args.lanes, place: args.place, features: bits }, pause);
  const held = args.lock !== undefined && (await takeLock(args.lock));
  return { held, module, features };
}

/** Loads from the address that was given, or else from the module's own. */
async function load(address: string | undefined, own: URL): Promise<WebAssembly.Module> {
  try {
    return await compile(address === undefined ? own : new URL(address));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RandomXError(
      error instanceof RangeError ? "out-of-memory" : "worker-failed",
      `the WebAssembly module could not be loaded: ${reason}`,
    );
  }
}

async function fill(session: Session, args: Args<"fill">): Promise<Result<"fill">> {
  filling = new AbortController();
  const onProgress = (done: number): void => {
    say({ type: "progress", done });
  };
  try {
    return await session.fill(args, { signal: filling.signal, onProgress });
  } finally {
    filling = undefined;
  }
}

/**
 * Takes a lock and keeps it: the browser frees it when this worker is gone, however it went,
 * and the client, which waits for it, knows. Resolves with whether the lock is held.
 */
function takeLock(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (): Promise<never> => {
      resolve(true);
      return new Promise(() => undefined);
    };
    lockManager()
      ?.request(name, hold)
      .catch(() => {
        // Some contexts have locks and refuse them.
        resolve(false);
      });
  });
}

/** Lets the messages that have arrived be read. A timer would wait 4 ms each time. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
