/** The settings of a comparison, in the form and in the address. */
import { count } from "../../shell/number.js";
import { COLUMNS } from "./columns.js";
import { SETS } from "./vectors.js";

/** Settings of a comparison. */
export interface Settings {
  columns: string[];
  sets: string[];
  threads: number;
  lanes: number;
  /** Whether times are measured. */
  times: boolean;
}

/** The limits of an instance in a browser. */
const MOST_THREADS = 24;
const MOST_LANES = 8;

/** The defaults. They leave out fast mode, which needs a dataset. */
const DEFAULT_SETS = ["specification", "reference", "headers", "blocks"];
const DEFAULT_COLUMNS = COLUMNS.map(({ name }) => name).filter((name) => name !== "native-fast");

/** Reads settings from an address. Missing and invalid ones get their defaults; an empty choice stays. */
export function readSettings(query: URLSearchParams): Settings {
  const known = (name: string, all: readonly { name: string }[], other: string[]): string[] => {
    if (query.get(name) === "") return [];
    const asked = query.get(name)?.split(",");
    const found = all.map((each) => each.name).filter((each) => asked?.includes(each));
    return found.length > 0 ? found : other;
  };
  return {
    columns: known("builds", COLUMNS, DEFAULT_COLUMNS),
    sets: known("vectors", SETS, DEFAULT_SETS),
    threads: count(query.get("threads"), MOST_THREADS) ?? defaultThreads(),
    lanes: count(query.get("lanes"), MOST_LANES) ?? MOST_LANES,
    times: query.get("times") !== "no",
  };
}

/** Writes settings for an address. */
export function writeSettings(settings: Settings): Record<string, string> {
  const { columns, sets, threads, lanes, times } = settings;
  return {
    builds: columns.join(","),
    vectors: sets.join(","),
    threads: String(threads),
    lanes: String(lanes),
    ...(times ? {} : { times: "no" }),
  };
}

function defaultThreads(): number {
  return Math.min(8, navigator.hardwareConcurrency || 1);
}
