/** What is measured, as the form and the address say it. */
import { count } from "../../shell/number.js";

/** The settings of a measurement. */
export interface Settings {
  engine: "auto" | "jit" | "interpreter";
  version: 1 | 2;
  threads: number;
  lanes: number;
  /** How long each build hashes. */
  seconds: number;
}

/** The bounds of the numbers, and what they are unless something else is asked for. */
export const NUMBERS = {
  threads: { most: 24, usual: Math.min(8, navigator.hardwareConcurrency || 1) },
  lanes: { most: 8, usual: 8 },
  seconds: { most: 120, usual: 10 },
} as const;

const ENGINES = ["auto", "jit", "interpreter"] as const;

/** The settings that an address asks for; what it does not say, or says wrongly, is as usual. */
export function readSettings(query: URLSearchParams): Settings {
  const number = (name: keyof typeof NUMBERS): number =>
    count(query.get(name), NUMBERS[name].most) ?? NUMBERS[name].usual;
  return {
    engine: ENGINES.find((engine) => engine === query.get("engine")) ?? "auto",
    version: query.get("version") === "2" ? 2 : 1,
    threads: number("threads"),
    lanes: number("lanes"),
    seconds: number("seconds"),
  };
}

/** The same as an address has it. */
export function writeSettings(settings: Settings): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}
