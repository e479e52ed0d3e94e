/** The table of what hashes are made of: in this browser, natively, and as others published it. */
import type { NativeRow } from "../../engine/native.js";
import { written } from "../../plot/figure.js";
import { make } from "../../shell/page.js";
import type { Parts } from "./parts.js";
import type { Browser } from "./rate.js";
import published from "./published.json";

/** What is filled of a cache, and computed of a dataset for a hash, in MiB: 16,384 items of 64 bytes. */
const CACHE = 256;
const ITEMS = 1;

/** What the rows are, in words. */
const WORDS: Record<string, string> = {
  Hash: "hashes, by all threads",
  Blake2b: "64 bytes of 64 bytes",
  Blake2bLong: "1024 bytes of 72 bytes",
  Argon2d: "filling 256 MiB",
  Aes1R: "2 MiB of 64 bytes",
  Aes4R: "2176 bytes of 64 bytes",
  AesHash1R: "64 bytes of 2 MiB",
  Superscalar: "generating SuperscalarHash programs",
  Dataset: "computing dataset items; in this browser by one worker",
};

/** Who publishes the figures beside the table, and what they were measured on. */
export const SOURCE = `${published.source}: ${published.machine}.`;

const asPublished = new Intl.NumberFormat("en");

/** Writes the table with what has been measured so far. */
export function writeTable(
  table: HTMLTableElement,
  browser: Browser | undefined,
  parts: Parts,
  native: readonly NativeRow[],
): void {
  const titles = ["What", "Unit", "This browser", "This machine, natively", ...published.programs];
  const head = titles.map((title, index) => {
    const cell = make("th", title);
    cell.scope = "col";
    if (index > 1) cell.className = "number";
    return cell;
  });
  const here: Record<string, number | undefined> = { ...parts, ...(browser && told(browser)) };
  const lines = published.rows.map(({ what, unit, values }) => {
    const name = make("th", `${what} `, make("small", WORDS[what] ?? ""));
    name.scope = "row";
    const own = nativeValue(what, native);
    const measured = [here[what], own].map((value) =>
      value === undefined ? "–" : written(Number(value.toPrecision(4))),
    );
    const numbers = [...measured, ...values.map((value) => asPublished.format(value))].map(
      (text) => {
        const cell = make("td", text);
        cell.className = "number";
        return cell;
      },
    );
    const row = make("tr", name, make("td", unit), ...numbers);
    row.dataset.row = what;
    return row;
  });
  table.replaceChildren(make("thead", make("tr", ...head)), make("tbody", ...lines));
}

/** What hashing tells. */
function told({ rate, cache, phases }: Browser): Record<string, number> {
  return {
    Hash: rate.mean,
    Argon2d: (1000 * CACHE) / cache,
    Dataset: (1000 * ITEMS) / phases.items,
  };
}

/** The native row of a name: hashes and datasets are measured with all threads, last. */
function nativeValue(what: string, rows: readonly NativeRow[]): number | undefined {
  const named = rows.filter((row) => row.what === what || row.what.startsWith(`${what}, `));
  const hashes = rows.filter((row) => what === "Hash" && row.what.startsWith("Hash "));
  return (named.at(-1) ?? hashes.at(-1))?.value ?? undefined;
}
