/**
 * The native add-on: which package has it, and loading it. Packages have no scripts for installing; npm
 * installs the one that fits the system.
 */
import { nodeModule } from "../environment.js";

/** The exports of the add-on, the crate `randomx-node`. */
export interface Addon {
  version: () => string;
  implementations: () => string;
  cacheCount: () => number;
  datasetCount: () => number;
  giveWay: () => void;
  commitment: (input: Uint8Array, hash: Uint8Array) => Uint8Array;
  CacheBuilder: new (key: Uint8Array) => CacheBuilder;
  /** With a number, `find` also returns a cache that a fresh one has replaced. */
  Cache: { find: (key: Uint8Array, id?: number) => Cache | null };
  Dataset: { begin: (cache: Cache, threads: number, limit: number) => Dataset | null };
  /** Without a number of lanes, the first hashes measure which is fastest. */
  Vm: new (cache: Cache, lanes?: number) => Vm;
}

/** A cache that is being filled. */
export interface CacheBuilder {
  fill: (blocks: number) => number;
  /** A fresh cache takes the place of the one that workers hold. */
  finish: (isFresh: boolean) => Cache;
  free: () => void;
}

/** A filled cache, as one worker holds it. */
export interface Cache {
  /** Returns its number in this process. */
  id: () => number;
  free: () => void;
}

/** A dataset that threads of the add-on compute, as one worker holds it. */
export interface Dataset {
  progress: () => number;
  free: () => void;
}

/** A virtual machine. */
export interface Vm {
  setCache: (cache: Cache) => void;
  setDataset: (dataset: Dataset) => void;
  hashMany: (version: number, inputs: Uint8Array[]) => Uint8Array;
  measure: (version: number, inputs: Uint8Array[]) => number[];
  free: () => void;
}

/** The package of each system that there is an add-on for, by Node's names of system and processor. */
export const PACKAGES: Partial<Record<string, string>> = {
  "darwin-arm64": "randomx-web-darwin-arm64",
  "darwin-x64": "randomx-web-darwin-x64",
  "linux-arm64": "randomx-web-linux-arm64-gnu",
  "linux-x64": "randomx-web-linux-x64-gnu",
  "win32-x64": "randomx-web-win32-x64",
};

/** The version of this package. The add-on must have the same. */
export const VERSION = "0.1.0";

/**
 * Loads the add-on at a `file:` URL, or else the one of the package for this system. Throws an `Error` that
 * says what is missing or broken.
 */
export function loadAddon(address: string | undefined): Addon {
  const [modules, urls] = [nodeModule("module"), nodeModule("url")];
  if (!modules || !urls) throw new Error("native code needs Node, Deno or Bun");
  const require = modules.createRequire(import.meta.url);
  if (address !== undefined) {
    if (!address.startsWith("file:")) {
      throw new Error(`nativeUrl: expected a file: URL, got ${address}`);
    }
    return checked(require(urls.fileURLToPath(address)), address);
  }
  const system = `${process.platform}-${process.arch}`;
  const name = PACKAGES[system];
  if (name === undefined) throw new Error(`there is no native add-on for ${system}`);
  try {
    require.resolve(name);
  } catch {
    throw new Error(`the package ${name} is not installed: the README of randomx-web says how`);
  }
  try {
    return checked(require(name), name);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${name} cannot be loaded: ${reason}`, { cause: error });
  }
}

/** Refuses an add-on of another version, whose functions may differ. */
function checked(loaded: unknown, from: string): Addon {
  const addon = loaded as Partial<Addon> | undefined;
  const version = addon?.version?.();
  if (version === undefined) throw new Error(`${from} is not a native add-on of RandomX`);
  if (version === VERSION) return addon as Addon;
  throw new Error(`${from} is version ${version}: install version ${VERSION} of both`);
}
