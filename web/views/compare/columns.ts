/** The builds that are compared, and how each hashes a group of inputs. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { RandomX } from "../../../wasm/js/index.js";
import { nativeHash, startFast, stopFast, type NativeInfo } from "../../engine/native.js";

/** How all builds hash. */
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

/** Hears of a hash, and its part of the milliseconds that a thread took for its batch. */
export type Found = (index: number, hash: string, ms: number) => void;

/** Milliseconds, of all threads together. */
export interface Spent {
  /** For keys: caches, or datasets. */
  prepare: number;
  /** For hashes. */
  hash: number;
}

/** A build that has been started. */
export interface Build {
  hash(group: Group, found: Found, signal: AbortSignal): Promise<Spent>;
  close(): Promise<void>;
}

/** A column of the table. */
export interface Column {
  name: string;
  label: string;
  /** Why it cannot be had; nothing where it can. */
  lacks: (native: NativeInfo | undefined) => string | undefined;
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
      hash: (group, found, signal) => hashHere(randomx, group, found, signal),
      close: async () => {
        await randomx[Symbol.asyncDispose]();
      },
    };
  };
  return { name: `browser-${engine}`, label, lacks: () => undefined, open };
}

/** Hashes as many inputs at a time as all workers have lanes, so that each batch can be timed. */
async function hashHere(
  randomx: RandomX,
  { key, version, inputs }: Group,
  found: Found,
  signal: AbortSignal,
): Promise<Spent> {
  const start = performance.now();
  await randomx.prepare(key, { signal });
  const prepared = performance.now();
  const { threads, lanes } = randomx.configuration;
  for (let first = 0; first < inputs.length; first += threads * lanes) {
    const batch = inputs.slice(first, first + threads * lanes);
    const begun = performance.now();
    const hashes = await randomx.hashMany(key, batch, { version, signal });
    const busy = Math.min(threads, batch.length);
    const ms = ((performance.now() - begun) * busy) / batch.length;
    hashes.forEach((hash, index) => {
      found(first + index, bytesToHex(hash), ms);
    });
  }
  return { prepare: prepared - start, hash: performance.now() - prepared };
}

function native(
  name: string,
  label: string,
  engine: "interpreter" | "jit",
  mode: "light" | "fast",
): Column {
  const lacks = (info: NativeInfo | undefined): string | undefined => {
    if (!info) return "This page does not come from randomx serve.";
    const found = info.engines.find((each) => each.engine === engine && each.mode === mode);
    return found?.available ? undefined : (found?.why ?? "It is not offered.");
  };
  const open = async (setup: Setup): Promise<Build> =>
    Promise.resolve({
      hash: async ({ key, version, inputs }, found, signal) => {
        const start = performance.now();
        if (mode === "fast") await startFast(key, { signal });
        const started = performance.now() - start;
        const job = { key, version, inputs, engine, mode, ...setup };
        const onHash = (hash: { index: number; hash: string; ms: number }): void => {
          found(hash.index, hash.hash, hash.ms);
        };
        const { ms, prepareMs } = await nativeHash(job, onHash, { signal });
        return { prepare: started + prepareMs, hash: ms };
      },
      close: async () => {
        if (mode === "fast") await stopFast();
      },
    });
  return { name, label, lacks, open };
}
