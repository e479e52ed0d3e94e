/** Hashes all vectors in one build after another, so that none slows another down. */
import { workFailure } from "../../engine/failure.js";
import { throwIfAborted } from "../../shell/abort.js";
import type { Build, Column, Group } from "./columns.js";
import type { Results } from "./table.js";
import type { Vector } from "./vectors.js";

/** The least number of hashes that are timed, and of the rounds that they come in. */
const TIMED = 32;
const ROUNDS = 3;

/** The hex digits of an input that is timed, as long as a hashing blob of Monero. */
const INPUT_DIGITS = 152;

/** Receives changes. */
export interface Listener {
  /** Some cells of a column changed. */
  changed(column: string, rows: readonly number[]): void;
  /** Some of all hashes are done. */
  progress(done: number, all: number): void;
}

/** A group, and the rows of its inputs. */
interface Rows {
  rows: number[];
  group: Group;
}

/**
 * Fills the table. If a build fails, its cells say why, and the next build runs. Rejects only after an
 * abort.
 */
export async function run(
  results: Results,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  const groups = grouped(results.vectors);
  const all = results.vectors.length * results.columns.length;
  let done = 0;
  for (const column of results.columns) {
    const before = done;
    const found = (row: number): void => {
      done += 1;
      listener.changed(column.name, [row]);
      listener.progress(done, all);
    };
    listener.progress(done, all);
    await runColumn(results, column, groups, { found, listener }, signal);
    done = before + results.vectors.length;
  }
}

async function runColumn(
  results: Results,
  column: Column,
  groups: readonly Rows[],
  { found, listener }: { found: (row: number) => void; listener: Listener },
  signal: AbortSignal,
): Promise<void> {
  const { name } = column;
  const put = (rows: readonly number[], state: "running" | "waiting"): void => {
    for (const row of rows) {
      if (results.cell(name, row).state !== "hashed") results.set(name, row, { state });
    }
    listener.changed(name, rows);
  };
  const fail = async (rows: readonly number[], thrown: unknown): Promise<void> => {
    const why = await workFailure(thrown);
    for (const row of rows) {
      if (results.cell(name, row).state !== "hashed")
        results.set(name, row, { state: "failed", why });
    }
    listener.changed(name, rows);
  };
  let build;
  try {
    build = await column.open(results.setup, signal);
  } catch (thrown) {
    throwIfAborted(signal);
    await fail([...results.vectors.keys()], thrown);
    return;
  }
  try {
    for (const { rows, group } of groups) {
      throwIfAborted(signal);
      put(rows, "running");
      try {
        const outcome = await build.hash(
          group,
          (index, hash) => {
            const row = rows[index];
            if (row === undefined) return;
            results.set(name, row, { state: "hashed", hash });
            found(row);
          },
          signal,
        );
        results.add(name, outcome);
      } catch (thrown) {
        if (signal.aborted) put(rows, "waiting");
        throwIfAborted(signal);
        await fail(rows, thrown);
      }
    }
    const last = groups.at(-1);
    if (results.setup.times && last) await time(results, column, build, last.group, signal);
  } finally {
    await build.close();
  }
}

/**
 * Measures the time of a hash with the last key, which every build has in memory then. In a round each
 * lane of each thread hashes once. The first round does not count, because browsers optimise code while
 * it runs.
 */
async function time(
  results: Results,
  { name }: Column,
  build: Build,
  { key, version }: Group,
  signal: AbortSignal,
): Promise<void> {
  // Without shared memory a browser has one thread, whatever was asked for.
  const { threads, lanes } = build;
  const count = threads * lanes;
  const rounds = Math.max(ROUNDS, Math.ceil(TIMED / count));
  for (let round = 0; round <= rounds; round += 1) {
    const inputs = Array.from({ length: count }, (_, at) =>
      (count * round + at).toString(16).padStart(INPUT_DIGITS, "0"),
    );
    try {
      const ms = await build.time({ key, version, inputs }, signal);
      if (round > 0) results.addTime(name, ms / lanes);
    } catch {
      // The build has no time then; its hashes are right or wrong without it.
      throwIfAborted(signal);
      return;
    }
  }
}

/** Groups rows by key, then by version, so that each key's cache is filled once. */
function grouped(vectors: readonly Vector[]): Rows[] {
  const groups = new Map<string, Rows & { group: { inputs: string[] } }>();
  const keys = new Map<string, number>();
  vectors.forEach(({ key, version, input }, row) => {
    if (!keys.has(key)) keys.set(key, keys.size);
    const name = `${String(keys.get(key)).padStart(6, "0")} ${version}`;
    const found = groups.get(name) ?? { rows: [], group: { key, version, inputs: [] } };
    found.rows.push(row);
    found.group.inputs.push(input);
    groups.set(name, found);
  });
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}
