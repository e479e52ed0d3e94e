/** The builds to compare, and how each hashes a group of inputs. */
import { RandomX } from "../../../wasm/js/index.js";
import {
  nativeHash,
  startFast,
  stopFast,
  type NativeDone,
  type NativeInfo,
} from "../../engine/native.js";
import { hex } from "../../shell/words.js";

/** The settings of all builds. */
export interface Setup {
  threads: number;
  lanes: number;
  /** Whether each build is timed after its hashes. */
  times: boolean;
}

/** Inputs that share a key and a version. */
export interface Group {
  key: string;
  version: 1 | 2;
  inputs: readonly string[];
}

/** Receives a hash. */
export type OnHash = (index: number, hash: string) => void;

/** The outcome of a group in one build. */
export interface Outcome {
  /** Milliseconds for the key's cache or dataset. */
  prepare: number;
  /** Hashes that a thread computed together. */
  lanes: number;
}

/** A started build. */
export interface Build {
  /** Its threads and the lanes of each, which may be fewer than asked for. */
  threads: number;
  lanes: number;
  hash(group: Group, onHash: OnHash, signal: AbortSignal): Promise<Outcome>;
  /** Hashes a group of the last key at once, and returns the milliseconds. */
  time(group: Group, signal: AbortSignal): Promise<number>;
  close(): Promise<void> | void;
}

/** A column of the table. */
export interface Column {
  name: string;
  label: string;
  /** Returns the reason why the build is not available, or nothing if it is. */
  missing: (native: NativeInfo | undefined) => string | undefined;
  open: (setup: Setup, signal: AbortSignal) => Promise<Build>;
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
  const open = async ({ threads, lanes }: Setup, signal: AbortSignal): Promise<Build> => {
    const randomx = await RandomX.create({ engine, threads, lanes, signal });
    const { configuration } = randomx;
    return {
      threads: configuration.threads,
      lanes: configuration.lanes,
      hash: (group, onHash, signal) => hashHere(randomx, group, onHash, signal),
      time: async ({ key, version, inputs }, signal) => {
        const start = performance.now();
        await randomx.hashMany(key, inputs, { version, signal });
        return performance.now() - start;
      },
      close: () => {
        randomx.dispose();
      },
    };
  };
  return { name: `browser-${engine}`, label, missing: () => undefined, open };
}

/** Hashes one input a lane of all workers at a time, so that the rows show each batch at once. */
async function hashHere(
  randomx: RandomX,
  { key, version, inputs }: Group,
  onHash: OnHash,
  signal: AbortSignal,
): Promise<Outcome> {
  const start = performance.now();
  await randomx.prepare(key, { signal });
  const prepare = performance.now() - start;
  const { threads, lanes } = randomx.configuration;
  for (let first = 0; first < inputs.length; first += threads * lanes) {
    const batch = inputs.slice(first, first + threads * lanes);
    const hashes = await randomx.hashMany(key, batch, { version, signal });
    hashes.forEach((hash, index) => {
      onHash(first + index, hex(hash));
    });
  }
  return { prepare, lanes };
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
  const open = async ({ threads, lanes }: Setup): Promise<Build> => {
    const done = (group: Group, onHash: OnHash, signal: AbortSignal): Promise<NativeDone> =>
      nativeHash(
        { ...group, engine, mode, threads, lanes },
        ({ index, hash }) => {
          onHash(index, hash);
        },
        { signal },
      );
    let held: { key: string; lease: string } | undefined;
    /** Ends the lease. If that fails, the server frees its dataset later by itself. */
    const release = async (): Promise<void> => {
      const lease = held?.lease;
      held = undefined;
      if (lease !== undefined) await stopFast(lease).catch(() => undefined);
    };
    /**
     * Leases the dataset of a key, also for the second time: the server frees it for another tab if nobody has used it
     * for a while.
     */
    const hold = async (key: string, signal: AbortSignal): Promise<void> => {
      if (mode === "light") return;
      if (held && held.key !== key) await release();
      const lease = await startFast(key, { signal });
      await release();
      held = { key, lease };
    };
    return Promise.resolve({
      threads,
      lanes,
      hash: async (group, onHash, signal) => {
        const start = performance.now();
        await hold(group.key, signal);
        const started = performance.now() - start;
        const { prepareMs, lanes } = await done(group, onHash, signal);
        return { prepare: started + prepareMs, lanes };
      },
      time: async (group, signal) => {
        // Without a lease this fails at once, as the hashes before it did.
        if (held) await hold(group.key, signal);
        return (await done(group, () => undefined, signal)).ms;
      },
      close: release,
    });
  };
  return { name, label, missing, open };
}
