/** The settings of a measurement, in the form and in the address. */
import { count } from "../../shell/number.js";

/** Settings of a measurement. */
export interface Settings {
  engine: "auto" | "jit" | "interpreter";
  version: 1 | 2;
  threads: number;
  lanes: number;
  /** Seconds that each build hashes. */
  seconds: number;
}

/** The greatest values of the numbers, and their defaults. */
export const NUMBERS = {
  threads: { most: 24, initial: Math.min(8, navigator.hardwareConcurrency || 1) },
  lanes: { most: 8, initial: 8 },
  seconds: { most: 120, initial: 10 },
} as const;

const ENGINES = ["auto", "jit", "interpreter"] as const;

/** Reads settings from an address. Missing and invalid ones get their defaults. */
export function readSettings(query: URLSearchParams): Settings {
  const number = (name: keyof typeof NUMBERS): number =>
    count(query.get(name), NUMBERS[name].most) ?? NUMBERS[name].initial;
  return {
    engine: ENGINES.find((engine) => engine === query.get("engine")) ?? "auto",
    version: query.get("version") === "2" ? 2 : 1,
    threads: number("threads"),
    lanes: number("lanes"),
    seconds: number("seconds"),
  };
}

/** Writes settings for an address. */
export function writeSettings(settings: Settings): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}
