/** The arguments of a follower, checked. */
import { invalidArgument } from "../errors.js";
import { networkOf } from "../monero/block.js";
import { fromJson } from "../monero/checkpoint.js";
import * as validate from "../validate.js";
import type { FollowArgs, Start } from "./protocol.js";
import { MemoryStore, type Store } from "./store.js";

/** The most sources, whose chains may fill some 3 MB each. */
const MAX_SOURCES = 8;

const MAX_SAMPLE = 1_000_000;
const MAX_SECONDS = 3600;
const MAX_DEEP = 1_000_000;

/** A checked source. */
export interface SourceChoice {
  kind: "node" | "relay";
  url: string;
  fetch: typeof globalThis.fetch | undefined;
}

/** Checked options. */
export interface FollowChoices extends Omit<
  FollowArgs,
  "state" | "sources" | "followWasmUrl" | "timeout"
> {
  store: Store;
  timeout: number;
  signal: AbortSignal | undefined;
}

/** Checks the list of sources. */
export function sourcesOf(value: unknown): SourceChoice[] {
  const sources = validate
    .list("sources", value, MAX_SOURCES, {
      node: validate.any,
      relay: validate.any,
      fetch: validate.fetcher,
    })
    .map(({ node, relay, fetch }, index): SourceChoice => {
      const name = `sources[${index}]`;
      if ((node === undefined) === (relay === undefined)) {
        throw invalidArgument(name, "expected the address of either a node or a relay");
      }
      const kind = relay === undefined ? "node" : "relay";
      return { kind, url: validate.server(`${name}.${kind}`, relay ?? node).href, fetch };
    });
  if (sources.length === 0) throw invalidArgument("sources", "expected at least one");
  return sources;
}

/** Checks the options and fills in the defaults. */
export function followChoices(value: unknown): FollowChoices {
  const { anchor, ...choices } = validate.fields("options", value, {
    network: networkOf,
    store: storeOf,
    anchor: startOf,
    sample: (name, value = 1) => validate.count(name, value, MAX_SAMPLE),
    fixedDifficulty: validate.optional(validate.chainDifficulty),
    deep: (name, value = 10) => validate.count(name, value, MAX_DEEP),
    poll: (name, value = 30) => validate.count(name, value, MAX_SECONDS),
    timeout: (name, value = 30_000) => validate.count(name, value, 1000 * MAX_SECONDS),
    signal: validate.signal,
  });
  return { ...choices, start: anchor };
}

function startOf(name: string, value: unknown): Start {
  if (value === undefined) return { kind: "anchors" };
  const isList = validate.reading(name, () => Array.isArray(value));
  if (!isList) return { kind: "checkpoint", checkpoint: fromJson(name, value) };
  const anchors = validate.list(name, value, 2, {
    height: validate.height,
    id: validate.hash,
    work: validate.chainDifficulty,
  });
  if (anchors.length !== 2) throw invalidArgument(name, "expected a checkpoint or two anchors");
  return {
    kind: "between",
    heights: anchors.map(({ height }) => height),
    ids: anchors.map(({ id }) => id),
    works: anchors.map(({ work }) => work),
  };
}

function storeOf(name: string, value: unknown): Store {
  if (value === undefined) return new MemoryStore();
  const { load, save } = validate.fields(
    name,
    value,
    { load: validate.any, save: validate.any },
    `${name}.`,
  );
  if (typeof load === "function" && typeof save === "function") return value as Store;
  throw invalidArgument(name, "expected an object with the methods load and save");
}
