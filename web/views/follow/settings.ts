/** The settings of the view: in the form, in the address, and in the browser's storage. */
import type { Network } from "../../../wasm/js/index.js";
import * as validate from "../../../wasm/js/validate.js";
import { readAddress } from "../../shell/url.js";
import { hex } from "../../shell/words.js";

/** The chain to follow, and its sources. */
export interface Settings {
  /** Addresses of nodes and of relays. */
  nodes: string[];
  relays: string[];
  network: Network;
  /**
   * A first start begins so many blocks before the newest of the first node that answers, and trusts
   * that node about those before. With 0 it begins at blocks that Monero's own source code names.
   */
  last: number;
  /** The difficulty of each block on a chain of `--regtest` with `--fixed-difficulty`; else empty. */
  fixedDifficulty: string;
}

/** A chain that this browser keeps. */
export interface Chain {
  settings: Settings;
  /**
   * Names the chains that were followed since the last Forget. After the next Forget chains get another name, so a
   * client that ends late neither writes into a new chain nor removes it.
   */
  memory: string;
}

/** The chain that was chosen last, and whether it is followed. */
export interface Kept extends Chain {
  isOn: boolean;
}

export const NETWORKS: readonly Network[] = ["mainnet", "stagenet", "testnet", "regtest"];

/** The only network with a fixed difficulty here. On the others, a link could switch the difficulty rule off. */
export const FIXED: Network = "regtest";

/** The most sources, and the most blocks of a first start, which it checks one by one. */
export const MOST_SOURCES = 8;
export const MOST_BLOCKS = 10_000;

export const INITIAL: Settings = {
  nodes: [],
  relays: [],
  network: "mainnet",
  last: 100,
  fixedDifficulty: "",
};

const KEY = "randomx-follow";

/** Reads addresses, one a line. Throws `invalid-argument` for one that is none. */
export function readAddresses(name: string, text: string): string[] {
  const addresses = text.split(/\s+/u).filter(Boolean);
  return addresses.map((address) => readAddress(name, address));
}

/** Reads settings from an address. Missing and invalid ones get their defaults. */
export function readSettings(query: URLSearchParams): Settings {
  const last = query.get("last")?.trim();
  return checked({
    nodes: query.getAll("node"),
    relays: query.getAll("relay"),
    network: query.get("network") ?? undefined,
    last: last ? Number(last) : undefined,
    fixedDifficulty: query.get("fixed-difficulty") ?? undefined,
  });
}

/** Writes settings for an address. */
export function writeSettings(settings: Settings): URLSearchParams {
  const { nodes, relays, network, last, fixedDifficulty } = settings;
  const query = new URLSearchParams();
  for (const node of nodes) query.append("node", node);
  for (const relay of relays) query.append("relay", relay);
  if (network !== INITIAL.network) query.set("network", network);
  if (last !== INITIAL.last) query.set("last", String(last));
  if (fixedDifficulty !== "") query.set("fixed-difficulty", fixedDifficulty);
  return query;
}

/** Whether settings name the same chain with the same sources. */
export function isSameSettings(one: Settings, other: Settings): boolean {
  return writeSettings(one).toString() === writeSettings(other).toString();
}

/** Reads what this browser keeps, if it keeps anything. */
export function readKept(): Kept | undefined {
  try {
    const text = localStorage.getItem(KEY);
    if (text === null) return undefined;
    const { settings, memory, isOn } = JSON.parse(text) as Partial<Kept>;
    return {
      settings: checked(settings ?? {}),
      memory: isMemory(memory) ? memory : newMemory(),
      isOn: isOn === true,
    };
  } catch {
    return undefined;
  }
}

/** Writes settings to the browser's storage, or removes them. Returns `false` if the browser refuses, so that they last until the page closes. */
export function writeKept(kept: Kept | undefined): boolean {
  try {
    if (kept) localStorage.setItem(KEY, JSON.stringify(kept));
    else localStorage.removeItem(KEY);
    return true;
  } catch {
    return false;
  }
}

/** Returns a name for the chains after a Forget. */
export function newMemory(): string {
  return hex(crypto.getRandomValues(new Uint8Array(8)));
}

function isMemory(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{16}$/u.test(value);
}

/** Returns settings with defaults instead of what is missing or invalid. */
function checked(given: { [Name in keyof Settings]?: unknown }): Settings {
  const addresses = (list: unknown): string[] =>
    Array.isArray(list) ? list.map(String).filter(isAddresses).flatMap(addressesOf) : [];
  const { last, fixedDifficulty } = given;
  const network = NETWORKS.find((network) => network === given.network) ?? INITIAL.network;
  const nodes = addresses(given.nodes).slice(0, MOST_SOURCES);
  return {
    nodes,
    relays: addresses(given.relays).slice(0, MOST_SOURCES - nodes.length),
    network,
    last: isBlocks(last) ? last : INITIAL.last,
    fixedDifficulty:
      network === FIXED && typeof fixedDifficulty === "string" && isDifficulty(fixedDifficulty)
        ? fixedDifficulty
        : "",
  };
}

/** Whether a value can be the number of blocks of a first start. */
export function isBlocks(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_BLOCKS;
}

const isDifficulty = accepts((text) => validate.chainDifficulty("difficulty", text));

const addressesOf = (text: string): string[] => readAddresses("addresses", text);

const isAddresses = accepts(addressesOf);

/** Returns whether a function that reads a text accepts it. */
function accepts(read: (text: string) => unknown): (text: string) => boolean {
  return (text) => {
    try {
      read(text);
      return true;
    } catch {
      return false;
    }
  };
}
