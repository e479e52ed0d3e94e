/** Results as files: JSON with everything, CSV with a row for each vector. */
import type { NativeInfo } from "../../engine/native.js";
import type { Results } from "./table.js";

/** Formats all results, with the builds and settings. */
export function asJson(results: Results, native: NativeInfo | undefined): string {
  const { vectors, columns, setup } = results;
  const rows = vectors.map(({ set, number, version, key, input }, row) => ({
    ...{ set, number, version, key, input, expected: results.expected(row) },
    results: Object.fromEntries(
      columns.map(({ name }) => {
        const cell = results.cell(name, row);
        return [name, { ...cell, verdict: results.verdict(name, row) }];
      }),
    ),
  }));
  const file = {
    browser: navigator.userAgent,
    native: native && { version: native.version, cpu: native.cpu },
    setup,
    totals: columns.map((column) => results.total(column)),
    rows,
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/** Formats the results as a table for spreadsheets. */
export function asCsv(results: Results): string {
  const { vectors, columns } = results;
  const head = ["set", "number", "version", "key", "input", "expected"];
  for (const { name } of columns) head.push(`${name} verdict`, `${name} hash`);
  const lines = vectors.map(({ set, number, version, key, input }, row) => {
    const cells = [set, number, version, key, input, results.expected(row)];
    for (const { name } of columns) {
      const cell = results.cell(name, row);
      cells.push(results.verdict(name, row), cell.state === "hashed" ? cell.hash : "");
    }
    return cells;
  });
  return [head, ...lines].map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}

/** Quotes a value. A set's name is a file's name, which must not become a formula. */
function quoted(value: string | number): string {
  if (typeof value === "number") return String(value);
  const harmless = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return /[",\r\n']/u.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
