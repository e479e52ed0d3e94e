/** Keeps followed chains in this browser, and where each of them began. */
import { IndexedDBStore, type Store } from "../../../wasm/js/index.js";
import type { Chain } from "./settings.js";

/** The node that the first start trusted about a block and those before it, or `null` for none. */
export type Beginning = { node: string; height: number } | null;

/** The byte between the beginning, which is one line of JSON, and the chain's state. */
const NEWLINE = 10;

/** The store of one chain. */
export class ChainStore implements Store {
  readonly #name: string;
  readonly #store: IndexedDBStore;
  /** Why the browser refuses its storage. */
  #refusal: Error | undefined;
  /** Where the chain began. `load` reads it, and `save` writes it. */
  beginning: Beginning = null;
  readonly #onSave: (kept: number) => void;
  #isSaved = false;
  #isDropped = false;

  /** Calls `onSave` with the number of bytes after each save that succeeds. */
  constructor(chain: Chain, onSave: (kept: number) => void) {
    this.#name = nameOf(chain);
    this.#store = new IndexedDBStore(this.#name);
    this.#onSave = onSave;
  }

  /** Whether the last save succeeded. */
  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** Makes `load` return nothing until the next save. */
  drop(): void {
    this.#isDropped = true;
  }

  /** Without the browser's storage the chain begins anew at each visit. */
  async load(): Promise<Uint8Array | undefined> {
    note(this.#name);
    const bytes = await this.#store.load().catch((thrown: unknown) => {
      this.#refusal = thrown instanceof Error ? thrown : new Error(String(thrown));
    });
    if (!bytes || this.#isDropped) return undefined;
    const end = bytes.indexOf(NEWLINE);
    try {
      this.beginning = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as Beginning;
    } catch {
      // The client rejects an empty state, so the chain begins anew.
      return new Uint8Array();
    }
    return bytes.slice(end + 1);
  }

  async save(state: Uint8Array): Promise<void> {
    this.#isSaved = false;
    // A state that could not be read is not replaced.
    if (this.#refusal) throw this.#refusal;
    const line = new TextEncoder().encode(`${JSON.stringify(this.beginning)}\n`);
    const bytes = new Uint8Array(line.length + state.length);
    bytes.set(line);
    bytes.set(state, line.length);
    note(this.#name);
    await this.#store.save(bytes);
    this.#isDropped = false;
    this.#isSaved = true;
    this.#onSave(state.length);
  }
}

/** Names the database of a chain. Chains with other rules or another beginning do not share one. */
function nameOf({ settings, memory }: Chain): string {
  const { network, last, fixedDifficulty } = settings;
  const rules = fixedDifficulty === "" ? [] : [fixedDifficulty];
  return ["randomx", network, `last-${last}`, ...rules, memory].join("-");
}

/** Matches the names of chains, and their memory. Other programs of this origin may have similar names. */
const NAME = /^randomx-(?:\w+net|regtest)-last-\d+(?:-\d+)?-([\da-f]{16})$/u;

/** The key of the names in the browser's storage, one a line. */
const NAMES = "randomx-follow-chains";

/** Whether the browser lists its databases. Firefox does from version 126 on; for others this page notes the names. */
function listsDatabases(): boolean {
  return "databases" in indexedDB;
}

/** Removes the chains of the memories that are gone from this browser. */
export async function removeChains(isGone: (memory: string) => boolean): Promise<void> {
  for (const name of await databaseNames()) {
    const memory = NAME.exec(name)?.[1];
    if (memory === undefined || !isGone(memory)) continue;
    const isRemoved = await new Promise((resolve) => {
      const request = indexedDB.deleteDatabase(name);
      request.onsuccess = () => {
        resolve(true);
      };
      request.onerror = request.onblocked = () => {
        resolve(false);
      };
    });
    if (isRemoved && !listsDatabases()) writeNames(noted().filter((each) => each !== name));
  }
}

/** Returns the names of databases, those of all chains among them. */
async function databaseNames(): Promise<string[]> {
  try {
    if (!listsDatabases()) return noted();
    return (await indexedDB.databases()).map(({ name = "" }) => name);
  } catch (thrown) {
    if (isBlocked(thrown)) return [];
    throw thrown;
  }
}

/** Notes the name of a chain before its database is made, where the browser will not list it. */
function note(name: string): void {
  if (listsDatabases()) return;
  try {
    writeNames([...new Set([...noted(), name])]);
  } catch {
    // A browser that keeps no names keeps no chains either.
  }
}

function noted(): string[] {
  return localStorage.getItem(NAMES)?.split("\n") ?? [];
}

function writeNames(names: readonly string[]): void {
  if (names.length > 0) localStorage.setItem(NAMES, names.join("\n"));
  else localStorage.removeItem(NAMES);
}

/** Returns whether the browser refuses something because it blocks this site's data. */
export function isBlocked(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === "SecurityError";
}
