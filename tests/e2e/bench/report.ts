/** Writes results to the terminal and to files. */
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { ANCHORED, type FollowTimes } from "../../node/long-chain.mjs";
import { choices } from "./batches.js";
import type { Row } from "./rows.js";

/** Facts besides times. */
export interface Facts {
  /** The machine as `randomx bench` describes it. */
  machine: object;
  /** The files that a visitor downloads, with their bytes after Brotli. */
  bytes: Record<string, number>;
  /** MiB that an instance adds to a tab, by browser. */
  memory: Record<string, number | undefined>;
  /** Following a chain from a relay, by browser. */
  following: Record<string, FollowTimes>;
}

/** Prints everything. If set, `BENCH_JSON` gets the rows, and `BENCH_RECORD` gets everything. */
export function report(rows: Row[], { machine, bytes, memory, following }: Facts): void {
  console.log(`${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model ?? "a processor"}`);
  if (rows.length > 0) console.log(table(rows));
  for (const line of choices(rows)) console.log(line);
  const total = Object.values(bytes).reduce((sum, count) => sum + count, 0);
  if (total > 0) {
    console.log(`downloaded by one visitor, Brotli: ${(total / 1000).toFixed(1)} KB`, bytes);
  }
  for (const [browser, mib] of Object.entries(memory)) {
    console.log(`memory of an instance, ${browser}: ${mib?.toFixed(0) ?? "unknown"} MiB`);
  }
  for (const [browser, { anchored, day, restart, bytes }] of Object.entries(following)) {
    console.log(
      `following a chain, ${browser}: ${Math.round((1000 * ANCHORED) / anchored)} headers a second ` +
        `without proofs of work, ${bytes.toFixed(1)} bytes each; a day of blocks in ` +
        `${(day / 1000).toFixed(1)} s; restart in ${restart.toFixed(0)} ms, ` +
        `${((anchored + day) / restart).toFixed(1)} times as fast as a first start, ` +
        `${(anchored / restart).toFixed(1)} times without the day`,
    );
  }
  write(process.env.BENCH_JSON, rows);
  const date = new Date().toISOString().slice(0, 10);
  // Other work at the same time makes times longer.
  const load = loadavg().map((average) => Number(average.toFixed(1)));
  write(process.env.BENCH_RECORD, { date, load, machine, bytes, memory, following, results: rows });
}

/** Formats rows as columns, the last of them aligned right. */
function table(rows: Row[]): string {
  const lines = rows.map((row) => [
    row.browser,
    row.engine,
    row.tier,
    `${row.threads || "auto"}`,
    `${row.lanes}`,
    row.what,
    row.ms.toFixed(1),
  ]);
  lines.unshift(["browser", "engine", "tier", "threads", "lanes", "what", "ms"]);
  const widths = lines[0]?.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number): string =>
    column === 6 ? cell.padStart(widths?.[column] ?? 0) : cell.padEnd(widths?.[column] ?? 0);
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

function write(file: string | undefined, content: unknown): void {
  if (file) writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
