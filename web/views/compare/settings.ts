/** What is to be compared, as the form and the address say it. */
import { count } from "../../shell/number.js";
import { COLUMNS } from "./columns.js";
import { SETS } from "./vectors.js";

/** The settings of a comparison. */
export interface Settings {
  columns: string[];
  sets: string[];
  threads: number;
  lanes: number;
}

/** What a browser's instance can have. */
const MOST_THREADS = 24;
const MOST_LANES = 8;

/** What is compared unless something else is asked for; a dataset is only made for who wants one. */
const DEFAULT_SETS = ["specification", "reference", "headers", "blocks"];
const DEFAULT_COLUMNS = COLUMNS.map(({ name }) => name).filter((name) => name !== "native-fast");

/** The settings that an address asks for; what it does not say, or says wrongly, is the default. */
export function readSettings(query: URLSearchParams): Settings {
  const known = (name: string, all: readonly { name: string }[], other: string[]): string[] => {
    const asked = query.get(name)?.split(",");
    const found = all.map((each) => each.name).filter((each) => asked?.includes(each));
    return found.length > 0 ? found : other;
  };
  return {
    columns: known("builds", COLUMNS, DEFAULT_COLUMNS),
    sets: known("vectors", SETS, DEFAULT_SETS),
    threads: count(query.get("threads"), MOST_THREADS) ?? defaultThreads(),
    lanes: count(query.get("lanes"), MOST_LANES) ?? MOST_LANES,
  };
}

/** The same as an address has it. */
export function writeSettings({ columns, sets, threads, lanes }: Settings): Record<string, string> {
  return {
    builds: columns.join(","),
    vectors: sets.join(","),
    threads: String(threads),
    lanes: String(lanes),
  };
}

function defaultThreads(): number {
  return Math.min(8, navigator.hardwareConcurrency || 1);
}
