/** The builds to compare, and how each hashes a group of inputs. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { RandomX } from "../../../wasm/js/index.js";
import { nativeHash, startFast, stopFast, type NativeInfo } from "../../engine/native.js";

/** The settings of all builds. */
export interface Setup {
  threads: number;
  lanes: number;
}

/** Inputs that share a key and a version. */
export interface Group {
  key: string;
  version: 1 | 2;
  inputs: readonly string[];
}

/** Receives a hash, and its share of the milliseconds that a thread took for its batch. */
export type OnHash = (index: number, hash: string, ms: number) => void;

/** Milliseconds of all threads together. */
export interface Spent {
  /** For caches and datasets. */
  prepare: number;
  /** For hashes. */
  hash: number;
}

/** What a build did for a group. */
export interface Outcome {
  spent: Spent;
  /** Hashes that a thread computed together. */
  lanes: number;
}

/** A started build. */
export interface Build {
  hash(group: Group, onHash: OnHash, signal: AbortSignal): Promise<Outcome>;
  close(): Promise<void>;
}

/** A column of the table. */
export interface Column {
  name: string;
  label: string;
  /** Returns the reason why the build is not available, or nothing if it is. */
  missing: (native: NativeInfo | undefined) => string | undefined;
  open: (setup: Setup) => Promise<Build>;
}

/** The columns, in order. */
export const COLUMNS: readonly Column[] = [
  browser("interpreter", "Browser, interpreter"),
  browser("jit", "Browser, JIT"),
  native("native-interpreter", "Native, interpreter", "interpreter", "light"),
  native("native-jit", "Native, JIT, light", "jit", "light"),
  native("native-fast", "Native, JIT, fast", "jit", "fast"),
];

function browser(engine: "interpreter" | "jit", label: string): Column {
  const open = async ({ threads, lanes }: Setup): Promise<Build> => {
    const randomx = await RandomX.create({ engine, threads, lanes });
    return {
      hash: (group, onHash, signal) => hashHere(randomx, group, onHash, signal),
      close: async () => {
        await randomx[Symbol.asyncDispose]();
      },
    };
  };
  return { name: `browser-${engine}`, label, missing: () => undefined, open };
}

/** Hashes one input a lane of all workers at a time, so that each batch can be timed. */
async function hashHere(
  randomx: RandomX,
  { key, version, inputs }: Group,
  onHash: OnHash,
  signal: AbortSignal,
): Promise<Outcome> {
  const start = performance.now();
  await randomx.prepare(key, { signal });
  const prepared = performance.now();
  const { threads, lanes } = randomx.configuration;
  for (let first = 0; first < inputs.length; first += threads * lanes) {
    const batch = inputs.slice(first, first + threads * lanes);
    const begin = performance.now();
    const hashes = await randomx.hashMany(key, batch, { version, signal });
    const busy = Math.min(threads, batch.length);
    const ms = ((performance.now() - begin) * busy) / batch.length;
    hashes.forEach((hash, index) => {
      onHash(first + index, bytesToHex(hash), ms);
    });
  }
  return { spent: { prepare: prepared - start, hash: performance.now() - prepared }, lanes };
}

function native(
  name: string,
  label: string,
  engine: "interpreter" | "jit",
  mode: "light" | "fast",
): Column {
  const missing = (info: NativeInfo | undefined): string | undefined => {
    if (!info) return "This page does not come from randomx serve.";
    const found = info.engines.find((each) => each.engine === engine && each.mode === mode);
    return found?.available ? undefined : (found?.why ?? "The server does not offer it.");
  };
  const open = async (setup: Setup): Promise<Build> =>
    Promise.resolve({
      hash: async ({ key, version, inputs }, onHash, signal) => {
        const start = performance.now();
        if (mode === "fast") await startFast(key, { signal });
        const started = performance.now() - start;
        const job = { key, version, inputs, engine, mode, ...setup };
        const { ms, prepareMs, lanes } = await nativeHash(
          job,
          ({ index, hash, ms }) => {
            onHash(index, hash, ms);
          },
          { signal },
        );
        return { spent: { prepare: started + prepareMs, hash: ms }, lanes };
      },
      close: async () => {
        if (mode === "fast") await stopFast();
      },
    });
  return { name, label, missing, open };
}
