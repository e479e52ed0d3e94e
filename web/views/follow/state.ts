/** The state of a chain that the view shows, built from the events of its client. Tabs send it to each other. */
import type {
  BlockRef,
  ChainBranch,
  ChainEvent,
  ChainTip,
  SourceStatus,
} from "../../../wasm/js/index.js";

import { span, whole } from "../../shell/words.js";
import { MOST_SOURCES } from "./settings.js";
import type { Beginning } from "./store.js";

/** A fork: the side that is or was ours, and another one. */
export interface Fork {
  kind: "reorg" | "deep-reorg" | "disagreement";
  /** When it was reported, in milliseconds since 1970. */
  at: number;
  common: BlockRef;
  ours: ChainBranch;
  theirs: ChainBranch;
  /** The address of the source that has the other side. */
  source?: string;
  /** Both sides' blocks, as a file. */
  evidence?: Uint8Array;
}

/** A proof against a source. */
export interface Accusation {
  source: SourceStatus;
  evidence: Uint8Array;
}

/** A transaction that the visitor looks for. */
export interface Lookup {
  txid: string;
  state: "searching" | "found" | "missing" | "failed";
  /** The height of its block, if it was found. */
  height?: number;
  /** Why not, if it is missing or the search failed. */
  why?: string;
}

/** The state of the followed chain. */
export interface State {
  tip?: ChainTip;
  /** The newest blocks of the chain, the newest first. */
  recent: BlockRef[];
  progress?: { read: number; checked: number | undefined; target: number };
  isSynced: boolean;
  sources: SourceStatus[];
  /** The newest forks, the newest first. */
  forks: Fork[];
  accusations: Accusation[];
  lookups: Lookup[];
  /** Sentences about the chain's growth, its versions, what failed last (a hash, or the store), and a lost chain. */
  warnings: { growth?: string; version?: string; hash?: string; store?: string; kept?: string };
  /** Where the chain began, once it is known. */
  beginning?: Beginning;
  /** Bytes that this browser keeps of the chain. */
  kept?: number;
}

const MOST = { recent: 8, forks: 10, lookups: 5 };

/** The blocks before the tip that a client keeps, those of three days. It knows no others. */
const KEPT = 2160;

/** Names the blocks in which a transaction is looked for. */
export function searchedBlocks({ tip, beginning }: State): string {
  return beginning && (tip?.height ?? 0) - beginning.height <= KEPT
    ? `the blocks from ${whole(beginning.height)} on, where this page began`
    : "the checked blocks of the last three days";
}

/** Returns the state before any event. */
export function initial(): State {
  return {
    recent: [],
    isSynced: false,
    sources: [],
    forks: [],
    accusations: [],
    lookups: [],
    warnings: {},
  };
}

/**
 * Returns the state with which another client of the same chain begins. It keeps only the warning about versions: a
 * client reports an alarm only when it changes, so the new one would never withdraw the others.
 */
export function inherited(state: State): State {
  const { version } = state.warnings;
  const warnings = version === undefined ? {} : { version };
  return { ...state, warnings, isSynced: false };
}

/** Returns the state of a chain that begins anew. Its blocks may differ, so transactions are looked for again. */
export function anew({ forks, accusations, warnings, lookups }: State): State {
  const wanted = lookups.map(({ txid }): Lookup => ({ txid, state: "searching" }));
  return { ...initial(), forks, accusations, warnings, lookups: wanted };
}

/** Returns the state after so many bytes of the chain were saved. */
export function afterSave(state: State, kept: number): State {
  return { ...withWarnings(state, { store: "" }), kept };
}

/** Returns the state after an event. */
export function after(before: State, event: ChainEvent, now: number): State {
  const state = "tip" in event ? withWarnings(before, { hash: "" }) : before;
  const warn = (more: State["warnings"]): State => withWarnings(state, more);
  switch (event.type) {
    case "tip":
      return { ...state, tip: event.tip, recent: withTip(state.recent, [event.tip], event.tip) };
    case "reorg": {
      const { tip, common, reverted: ours, adopted: theirs } = event;
      const kept = state.recent.filter(({ height }) => height <= common.height);
      const recent = withTip(kept, theirs.blocks, tip);
      const fork: Fork = { kind: "reorg", at: now, common, ours, theirs };
      return { ...state, tip, recent, forks: withFork(state.forks, fork) };
    }
    case "deep-reorg": {
      const { common, reverted: ours, adopted: theirs, source } = event;
      const fork: Fork = { kind: "deep-reorg", at: now, common, ours, theirs, source: source.url };
      return { ...state, forks: withFork(state.forks, fork) };
    }
    case "disagreement": {
      const { common, ours, theirs, source, evidence } = event;
      const fork: Fork = { kind: "disagreement", at: now, common, ours, theirs, evidence };
      return { ...state, forks: withFork(state.forks, { ...fork, source: source.url }) };
    }
    case "source": {
      const { source, evidence } = event;
      if (!evidence) return state;
      // A client accuses a source once; the next one may do so again.
      const others = state.accusations.filter(
        ({ source: { url, kind } }) => url !== source.url || kind !== source.kind,
      );
      return { ...state, accusations: [{ source, evidence }, ...others].slice(0, MOST_SOURCES) };
    }
    case "progress": {
      const { read, checked, target } = event;
      // A greater target is only a claim until a source has shown the headers.
      const isSynced = state.isSynced && read <= (state.tip?.height ?? 0);
      return { ...state, progress: { read, checked, target }, isSynced };
    }
    case "synced":
      return { ...state, tip: event.tip, isSynced: true };
    case "stale":
      if (event.alarm === "cleared") return warn({ growth: "" });
      return warn({ growth: growth(event) });
    case "update-needed":
      return warn({
        version: `Block ${event.height} of ${event.source.url} has version ${event.version}. This page must be updated.`,
      });
    case "failure":
      return warn({ [event.part]: `${FAILURES[event.part]}: ${event.error.message}.` });
    case "missed":
      return state;
  }
}

const FAILURES = { hash: "A hash could not be computed", store: "The chain could not be kept" };

function withWarnings(state: State, more: State["warnings"]): State {
  return { ...state, warnings: { ...state.warnings, ...more } };
}

function growth(event: { alarm: "stale"; age: number } | { alarm: "slow"; took: number }): string {
  const reason = "The network is in trouble, or the sources hide blocks.";
  return event.alarm === "stale"
    ? `The newest block is ${span(event.age)} old. ${reason}`
    : `The last 60 blocks took ${span(event.took)}, more than twice as long as expected. ${reason}`;
}

/** Returns the newest blocks that are known without a gap after some were added, from the tip down. */
function withTip(
  recent: readonly BlockRef[],
  added: readonly BlockRef[],
  tip: ChainTip,
): BlockRef[] {
  const all = new Map<number, BlockRef>();
  for (const { height, id } of [...recent, ...added, tip]) {
    if (height <= tip.height) all.set(height, { height, id });
  }
  const sorted = [...all.values()].sort((a, b) => b.height - a.height);
  return sorted.filter(({ height }, place) => height === tip.height - place).slice(0, MOST.recent);
}

/** Adds a fork. A later report of the same fork replaces the earlier one. */
function withFork(forks: readonly Fork[], fork: Fork): Fork[] {
  const others = forks.filter(
    ({ kind, source, common }) =>
      kind !== fork.kind || source !== fork.source || common.id !== fork.common.id,
  );
  return [fork, ...others].slice(0, MOST.forks);
}

/** Adds a transaction to look for, or replaces its outcome. */
export function withLookup(state: State, lookup: Lookup): State {
  const known = state.lookups.some(({ txid }) => txid === lookup.txid);
  const lookups = known
    ? state.lookups.map((each) => (each.txid === lookup.txid ? lookup : each))
    : [lookup, ...state.lookups].slice(0, MOST.lookups);
  return { ...state, lookups };
}
