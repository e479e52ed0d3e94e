/** The table of rates of parts: in this browser, natively, and published. */
import type { NativeRow } from "../../engine/native.js";
import { formatNumber } from "../../plot/figure.js";
import { make } from "../../shell/page.js";
import type { Parts } from "./parts.js";
import type { Browser } from "./rate.js";
import published from "./published.json";

/** MiB of a cache, and of the 16,384 dataset items that a hash needs. */
const CACHE = 256;
const ITEMS = 1;

/** Descriptions of the rows. */
const DESCRIPTIONS: Record<string, string> = {
  Hash: "hashes, by all threads",
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

/** The rows that depend on the mode, which is not the published one here. */
const LIGHT_HERE = "light mode";

const asPublished = new Intl.NumberFormat("en");

/** Writes the table with the measurements so far. */
export function writeTable(
  table: HTMLTableElement,
  browser: Browser | undefined,
  parts: Parts,
  native: readonly NativeRow[],
): void {
  const titles = ["Part", "Unit", "This browser", "This machine, natively", ...published.programs];
  const head = titles.map((title, index) => {
    const cell = make("th", title);
    cell.scope = "col";
    if (index > 1) cell.className = "number";
    return cell;
  });
  const here: Record<string, number | undefined> = { ...parts, ...(browser && ratesOf(browser)) };
  const lines = published.rows.map(({ what, unit, values, mode }) => {
    const name = make("th", `${what} `, make("small", DESCRIPTIONS[what] ?? ""));
    name.scope = "row";
    const own = nativeValue(what, native);
    const measured = [here[what], own].map((value) =>
      value === undefined ? "–" : formatNumber(Number(value.toPrecision(4))),
    );
    const texts = [...measured, ...values.map((value) => asPublished.format(value))];
    const numbers = texts.map((text, at) => {
      const cell = make("td", text);
      cell.className = "number";
      if (mode && text !== "–") {
        cell.append(" ", make("small", at < measured.length ? LIGHT_HERE : mode));
      }
      return cell;
    });
    const line = make("tr", name, make("td", unit), ...numbers);
    line.dataset.row = what;
    return line;
  });
  table.replaceChildren(make("thead", make("tr", ...head)), make("tbody", ...lines));
}

/** Returns the rates that follow from hashing. */
function ratesOf({ rate, cache, phases }: Browser): Record<string, number> {
  return {
    Hash: rate.mean,
    Argon2d: (1000 * CACHE) / cache,
    Dataset: (1000 * ITEMS) / phases.items,
  };
}

/** Returns the native value of a row. Of several rows, the last is measured with all threads. */
function nativeValue(what: string, rows: readonly NativeRow[]): number | undefined {
  const named = rows.filter((row) => row.what === what || row.what.startsWith(`${what}, `));
  const hashes = rows.filter((row) => what === "Hash" && row.what.startsWith("Hash "));
  return (named.at(-1) ?? hashes.at(-1))?.value ?? undefined;
}
