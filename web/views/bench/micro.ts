/** The table of rates of parts: in this browser, natively, and published. */
import type { NativeRow } from "../../engine/native.js";
import { make, numberCell, rowName, tableHead } from "../../shell/page.js";
import { formatNumber, plural, whole } from "../../shell/words.js";
import type { Parts } from "./parts.js";
import type { Browser } from "./rate.js";
import published from "./published.json";

/** MiB of a cache, and of the 16,384 dataset items that a hash needs. */
const CACHE = 256;
const ITEMS = 1;

/** Descriptions of the rows. */
const DESCRIPTIONS: Record<string, string> = {
  Hash: "whole hashes",
  Blake2b: "64 bytes from 64 bytes",
  Blake2bLong: "1024 bytes from 72 bytes",
  Argon2d: "filling 256 MiB",
  Aes1R: "2 MiB from 64 bytes",
  Aes4R: "2176 bytes from 64 bytes",
  AesHash1R: "64 bytes from 2 MiB",
  Superscalar: "generating SuperscalarHash programs",
  Dataset: "computing dataset items; in this browser by one worker",
};

/** The source of the published figures, and the machine of their measurement. */
export const SOURCE = `${published.source}: ${published.machine}.`;

/** A rate. */
interface Measured {
  value: number;
  /** The version, mode and threads, if rates of the row differ in them. */
  how?: string | undefined;
}

/** Writes the table with the measurements so far. */
export function writeTable(
  table: HTMLTableElement,
  browser: Browser | undefined,
  parts: Parts,
  native: readonly NativeRow[],
): void {
  const titles = ["Part", "Unit", "This browser", "This machine, natively", ...published.programs];
  const here = inBrowser(parts, browser);
  const lines = published.rows.map(({ what, unit, values, how }) => {
    const name = rowName(`${what} `, make("small", DESCRIPTIONS[what] ?? ""));
    const own = what === "Hash" ? nativeHash(native, browser?.version ?? 1) : named(native, what);
    const measured = [here[what], own].map((rate) => rateCell(measuredText(rate), rate?.how));
    const known = values.map((value) => rateCell(whole(value), how));
    const line = make("tr", name, make("td", unit), ...measured, ...known);
    line.dataset.row = what;
    return line;
  });
  table.replaceChildren(tableHead(titles, 2), make("tbody", ...lines));
}

function measuredText(rate: Measured | undefined): string {
  return rate ? formatNumber(Number(rate.value.toPrecision(4))) : "–";
}

function rateCell(text: string, how: string | undefined): HTMLElement {
  const cell = numberCell(text);
  if (how) cell.append(" ", make("small", how));
  return cell;
}

/** Returns the rates of the browser's build. */
function inBrowser(parts: Parts, browser: Browser | undefined): Record<string, Measured> {
  const alone = Object.entries(parts).map(([part, value]) => [part, { value }] as const);
  if (!browser) return Object.fromEntries(alone);
  const { version, threads, rate, cache, phases } = browser;
  const how = `v${version} light, ${plural(threads, "thread")}`;
  return {
    ...Object.fromEntries(alone),
    Hash: { value: rate.mean, how },
    Argon2d: { value: (1000 * CACHE) / cache },
    Dataset: { value: (1000 * ITEMS) / phases.items },
  };
}

/** Returns the native rate of a part, whose row may name its threads: “Dataset, 2 threads”. */
function named(rows: readonly NativeRow[], what: string): Measured | undefined {
  const row = rows.find((row) => row.what === what || row.what.startsWith(`${what}, `));
  return measuredAs(row, `${what}, `);
}

/**
 * Returns the native rate of hashes of a version: “Hash v1 light, 2 threads”. Of several rows, the last is
 * measured with the most threads.
 */
function nativeHash(rows: readonly NativeRow[], version: 1 | 2): Measured | undefined {
  const row = rows.findLast((row) => row.what.startsWith(`Hash v${version} `));
  return measuredAs(row, "Hash ");
}

function measuredAs(row: NativeRow | undefined, before: string): Measured | undefined {
  if (typeof row?.value !== "number") return undefined;
  const how = row.what.startsWith(before) ? row.what.slice(before.length) : undefined;
  return { value: row.value, how };
}
