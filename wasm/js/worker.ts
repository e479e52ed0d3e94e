/**
 * The worker's entry. It loads the WebAssembly module and answers one request after another, or it
 * follows a chain.
 */
import {
  Cache,
  CacheBuilder,
  Vm,
  cacheMemory,
  commitment,
  detectFeatures,
  initSync,
} from "../pkg/randomx_wasm.js";
import { compile, nodeModule, serve } from "./environment.js";
import { RandomXError, asRandomXError } from "./errors.js";
import type { Driver } from "./chain/driver.js";
import type { ChainMessage, FromChain, ToChain } from "./chain/protocol.js";
import { unpacked } from "./inputs.js";
import { takeLock } from "./lock.js";
import { BlockRules } from "./monero/block_rules.js";
import type { ChainRules } from "./monero/chain_rules.js";
import type { NativeSession } from "./native/session.js";
import type { Args, FromWorker, Operation, Request, Result, ToWorker } from "./protocol.js";
import { Session, loadKept, type WorkerSession } from "./session.js";
import { checkSupport, chooseFeatures } from "./support.js";
import { pause } from "./turns.js";

/** A failure to load Monero's rules, which harms nothing else in the worker. */
class RulesError extends RandomXError {}

/** The operations that need Monero's rules. */
type RulesOperation =
  "seedHeight" | "checkDifficulty" | "examine" | "proofOfWork" | "chainWork" | "chainVerdicts";

/** Monero's rules for one block and for chains. */
interface Rules {
  block?: Promise<BlockRules> | undefined;
  chain?: Promise<ChainRules> | undefined;
}

let session: WorkerSession | undefined;
let driver: Promise<Driver> | undefined;
/** Monero's rules, once a request has needed them. */
const rules: Rules = {};
let addresses: Pick<Args<"start">, "blockWasmUrl" | "moneroWasmUrl">;
/** Stops the operation that takes long. */
let stoppable: AbortController | undefined;

/** Resolves when all requests so far are answered. */
let answered = Promise.resolve();

const send: (message: FromWorker | ChainMessage<FromChain>) => void = serve(
  (message: ToWorker | ChainMessage<ToChain>) => {
    if (message.type === "abort") stoppable?.abort();
    else if (message.type === "chain") void follow(message.chain);
    else answered = answered.then(() => answer(message));
  },
);

async function answer(request: Request): Promise<void> {
  try {
    send({ type: "result", result: await perform(request) });
  } catch (thrown) {
    const { code, message } = asRandomXError(thrown);
    const error = { code, message };
    // A full stack is a `RangeError` too, and leaves a module unusable.
    const isBroken = code === "worker-failed" || thrown instanceof RangeError;
    const isFatal = isBroken && !(thrown instanceof RulesError);
    send({ type: isFatal ? "died" : "failure", error });
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
    case "keep":
      return keep(session, request.args);
    case "attach":
      return session.attach(request.args);
    case "release":
      return session.release(request.args);
    case "measure":
      return session.measure({ ...request.args, inputs: unpacked(request.args.inputs) });
    case "hash":
      return hash(session, request.args);
    case "commitment":
      return session.commitment(request.args);
    case "loadRules":
      // The operations that need the rules report why loading failed.
      getRules().catch(() => undefined);
      return null;
    default:
      return judge(request);
  }
}

/** Hashes inputs. In place of a block it hashes the block's hashing blob. */
async function hash(session: WorkerSession, args: Args<"hash">): Promise<Result<"hash">> {
  const { blocks } = args.inputs;
  const loaded = blocks.length > 0 ? await getRules() : undefined;
  const unreadable: number[] = [];
  const inputs = unpacked(args.inputs).flatMap((bytes, index) => {
    const input = blocks.includes(index) ? loaded?.hashingBlob(bytes) : bytes;
    if (!input) unreadable.push(index);
    return input ?? [];
  });
  const hashes = session.hash({ ...args, inputs });
  const mode = session.mode(args.slot);
  return { hashes, unreadable, mode, milliseconds: session.elapsed / inputs.length };
}

/** Performs an operation of Monero's rules. */
async function judge(
  request: Extract<Request, { operation: RulesOperation }>,
): Promise<Result<RulesOperation>> {
  switch (request.operation) {
    case "chainWork":
      return (await getChainRules()).chainWork(request.args);
    case "chainVerdicts":
      return (await getChainRules()).chainVerdicts(request.args);
  }
  const loaded = await getRules();
  switch (request.operation) {
    case "seedHeight":
      return loaded.seedHeight(request.args);
    case "checkDifficulty":
      return loaded.checkDifficulty(request.args);
    case "examine":
      return loaded.examine(request.args);
    case "proofOfWork":
      return loaded.proofOfWork(request.args);
  }
}

/**
 * Returns the rules for one block. Callers who only hash do not download them. The module for chains has them too. It is
 * used if it is loaded already, or if only its address was given.
 */
function getRules(): Promise<BlockRules> {
  const { blockWasmUrl, moneroWasmUrl } = addresses;
  if (rules.chain || (moneroWasmUrl !== undefined && blockWasmUrl === undefined)) {
    return getChainRules();
  }
  return (rules.block ??= retried("block", loadRules()));
}

/** Returns the rules for chains. */
function getChainRules(): Promise<ChainRules> {
  return (rules.chain ??= retried("chain", loadChainRules()));
}

async function loadRules(): Promise<BlockRules> {
  const own = new URL("../block/pkg/randomx_block_wasm_bg.wasm", import.meta.url);
  // First, because some browsers never repeat an import that failed.
  const module = await load(addresses.blockWasmUrl, own);
  const block = await import("../block/pkg/randomx_block_wasm.js");
  block.initSync({ module });
  return new BlockRules(block);
}

async function loadChainRules(): Promise<ChainRules> {
  const own = new URL("../monero/pkg/randomx_monero_wasm_bg.wasm", import.meta.url);
  const module = await load(addresses.moneroWasmUrl, own);
  const [monero, { ChainRules }] = await Promise.all([
    import("../monero/pkg/randomx_monero_wasm.js"),
    import("./monero/chain_rules.js"),
  ]);
  monero.initSync({ module });
  return new ChainRules(monero);
}

/** Forgets rules that could not be loaded: later there may be memory or a connection. */
async function retried<T>(kind: keyof Rules, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (cause) {
    rules[kind] = undefined;
    const { code, message } = asRandomXError(cause);
    throw new RulesError(code, message, { cause });
  }
}

/** Passes a message to the driver of a chain, which the first message starts. */
async function follow(message: ToChain): Promise<void> {
  const reply = (chain: FromChain): void => {
    send({ type: "chain", chain });
  };
  try {
    if (message.kind === "begin") {
      driver = loadDriver(message.args.followWasmUrl, reply);
      // Not awaited: later messages would overtake this one.
      const { lock } = message;
      if (lock !== undefined) {
        void takeLock(lock).then((held) => {
          if (held) reply({ kind: "held", lock });
        });
      }
    }
    (await driver)?.receive(message);
  } catch (thrown) {
    const { code, message } = asRandomXError(thrown);
    reply({ kind: "failed", error: { code, message } });
  }
}

async function loadDriver(
  address: string | undefined,
  reply: (message: FromChain) => void,
): Promise<Driver> {
  checkSupport();
  const [client, { Driver }] = await Promise.all([
    import("../follow/pkg/randomx_follow_wasm.js"),
    import("./chain/driver.js"),
  ]);
  const own = new URL("../follow/pkg/randomx_follow_wasm_bg.wasm", import.meta.url);
  client.initSync({ module: await load(address, own) });
  return new Driver(client, reply);
}

async function start(args: Args<"start">): Promise<Result<"start">> {
  addresses = args;
  const started = await begin(args);
  const held = args.lock !== undefined && (await takeLock(args.lock));
  return { ...started, held };
}

/** Begins with native code if it may be used and is there, and otherwise with WebAssembly. */
async function begin(args: Args<"start">): Promise<Omit<Result<"start">, "held">> {
  const [first, ...others] = args.engines.filter((engine) => engine !== "native");
  let notNative: string | undefined;
  if (args.engines.includes("native")) {
    try {
      const native = await openNative(args);
      const { implementations } = native;
      session = native;
      const { features } = chooseFeatures(0, args.features);
      return { module: undefined, features, engines: ["native"], notNative, implementations };
    } catch (error) {
      notNative = error instanceof Error ? error.message : String(error);
    }
  }
  if (!first) throw new RandomXError("unsupported", `engine: ${notNative}`);
  if (args.mode === "fast") {
    const reason = notNative ?? "WebAssembly has no dataset";
    throw new RandomXError("unsupported", `mode: fast mode needs native code: ${reason}`);
  }
  const engines = [first, ...others] as const;
  return { ...(await beginWasm(args)), engines, notNative, implementations: undefined };
}

/** Opens a session with the native add-on. Bundlers do not follow the import: its address is computed. */
async function openNative({ nativeUrl, ...setting }: Args<"start">): Promise<NativeSession> {
  if (!nodeModule("module")) throw new Error("native code needs Node, Deno or Bun");
  const script = import.meta.resolve("./native/open.js");
  const { openSession } = (await import(
    /* @vite-ignore */ /* webpackIgnore: true */ script
  )) as typeof import("./native/open.js");
  return openSession(nativeUrl, setting, pause);
}

async function beginWasm(
  args: Args<"start">,
): Promise<Pick<Result<"start">, "module" | "features">> {
  checkSupport();
  // The first fill would wait for it.
  if (args.keepsCaches) void loadKept();
  const own = new URL("../pkg/randomx_wasm_bg.wasm", import.meta.url);
  const module = args.module ?? (await load(args.wasmUrl, own));
  initSync({ module });
  const { features, bits } = chooseFeatures(detectFeatures(), args.features);
  const wasm = { Cache, CacheBuilder, Vm, cacheMemory, commitment };
  session = new Session(wasm, { lanes: args.lanes, place: args.place, features: bits }, pause);
  return { module, features };
}

/** Compiles the module at the address that was given, or else at the package's own. */
async function load(address: string | undefined, own: URL): Promise<WebAssembly.Module> {
  try {
    return await compile(address === undefined ? own : new URL(address));
  } catch (error) {
    const { code, message } = asRandomXError(error);
    throw new RandomXError(code, `the WebAssembly module could not be loaded: ${message}`);
  }
}

function keep(session: WorkerSession, args: Args<"keep">): Promise<Result<"keep">> {
  // Native code keeps no caches.
  return stoppably(async (signal) => (await session.keep?.(args, signal)) ?? "impossible");
}

function fill(session: WorkerSession, args: Args<"fill">): Promise<Result<"fill">> {
  const onProgress = (done: number): void => {
    send({ type: "progress", done });
  };
  return stoppably((signal) => session.fill(args, { signal, onProgress }));
}

/** Performs an operation that a message `abort` stops. */
async function stoppably<T>(perform: (signal: AbortSignal) => Promise<T>): Promise<T> {
  stoppable = new AbortController();
  try {
    return await perform(stoppable.signal);
  } finally {
    stoppable = undefined;
  }
}
