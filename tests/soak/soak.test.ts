/**
 * A long run of everything at once. In each round all subjects hash the same inputs with a new or an earlier
 * key, each in its own way and some with a fault, and must agree with the reference. At the end no subject
 * may hold more than after the first rounds.
 */
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { cliSubject } from "./cli.js";
import { nodeSubject } from "./node.js";
import { pageSubject } from "./page.js";
import { reference } from "./reference.js";
import { serveSubject } from "./serve.js";
import { MINUTES, ROUND_SECONDS, sleep, type Batch, type Fault } from "./subject.js";
import { least, sample, type Sample } from "./watch.js";

const FAULTS: readonly Fault[] = ["abort", "kill", "slow"];

/** How work may end that a fault interrupts. Work that was already complete is `done` or a status. */
const ENDS = /^(?:done|aborted|worker-failed|200|slow clients left|0|1|2|SIGKILL|SIGPIPE)$/u;

/** Rounds until every subject holds all that it keeps: two caches, compiled code, pools of threads. */
const WARM_UP = 4;

/** The rounds of the shortest run: one in each third after the warm-up. */
const LEAST_ROUNDS = WARM_UP + 3;

/**
 * The growth allowed to a subject by the end. One leaked cache is 256 MiB, and a round has at least one. A
 * browser starts threads of its own at any time; a leak in each round would be dozens.
 */
const SLACK: Record<string, Sample> = {
  page: { memory: 96, files: 8, threads: 8 },
  node: { memory: 96, files: 2, threads: 2 },
  serve: { memory: 32, files: 0, threads: 0 },
  cli: { memory: 32, files: 0, threads: 0 },
};

test.skipIf(!existsSync("/proc/self/smaps_rollup"))(
  `everything at once for ${MINUTES} minutes`,
  async () => {
    const expecting = closing(reference());
    const subjects = [
      closing(await pageSubject()),
      closing(await nodeSubject()),
      closing(await serveSubject()),
      closing(cliSubject("cli")),
    ];
    const samples = new Map(subjects.map((subject) => [subject.name, [] as Sample[]]));
    const ends: Record<string, number> = {};
    const keys: string[] = [];
    let hashes = 0;
    let round = 0;
    const end = Date.now() + MINUTES * 60_000;
    for (; Date.now() < end || round < LEAST_ROUNDS; round += 1) {
      const nextRound = sleep(ROUND_SECONDS * 1000);
      const key = round % 3 === 2 ? (keys.at(-2) ?? "") : randomBytes(32).toString("hex");
      keys.push(key);
      const batches = ([1, 2] as const).map((version): Batch => ({
        key,
        version,
        inputs: inputs(8),
      }));
      const expected = await Promise.all(batches.map((batch) => expecting.hash(batch)));
      const fault = FAULTS[round % FAULTS.length] ?? "abort";
      // An interrupted batch has a key of its own, so that fills of caches are interrupted too.
      const doomed: Batch = { key: round % 2 ? key : `${key}00`, version: 1, inputs: inputs(64) };
      await Promise.all(
        subjects.map(async (subject) => {
          const how = await subject.disturb(fault, doomed);
          expect(how, `${subject.name}, ${fault}`).toMatch(ENDS);
          ends[how] = (ends[how] ?? 0) + 1;
          for (const [index, batch] of batches.entries()) {
            const found = await subject.hash(batch);
            expect(found, `${subject.name}, round ${round}`).toEqual(expected[index]);
            hashes += found.length;
          }
          const workers = await subject.workers?.();
          if (workers !== undefined) expect(workers, `${subject.name}: workers`).toBe(2);
        }),
      );
      for (const subject of subjects) samples.get(subject.name)?.push(sample(subject));
      await nextRound;
    }

    const third = Math.floor((round - WARM_UP) / 3);
    // The server closes what slow clients left, and caches are freed, some seconds later.
    await sleep(15_000);
    const report = subjects.map((subject) => {
      const all = samples.get(subject.name) ?? [];
      const first = least(all.slice(WARM_UP, WARM_UP + third));
      const last = least([...all.slice(-third), sample(subject)]);
      return { subject: subject.name, first, last };
    });
    record({
      reference: expecting.name,
      minutes: MINUTES,
      rounds: round,
      hashes,
      ends,
      subjects: report,
    });
    for (const { subject, first, last } of report) {
      for (const [name, slack] of Object.entries(SLACK[subject] ?? {})) {
        const key = name as keyof Sample;
        expect(last[key] - first[key], `${subject}: more ${name}`).toBeLessThanOrEqual(
          slack as number,
        );
      }
    }
  },
);

/** Closes a subject when the test ends. */
function closing<T extends { close: () => Promise<void> }>(subject: T): T {
  onTestFinished(() => subject.close());
  return subject;
}

function inputs(count: number): string[] {
  return Array.from({ length: count }, () => randomBytes(76).toString("hex"));
}

/** Prints the result, and writes it to the file that `SOAK_RECORD` names. */
function record(result: object): void {
  const date = new Date().toISOString().slice(0, 10);
  const [processor] = cpus();
  const machine = { processor: processor?.model, processors: cpus().length };
  const text = `${JSON.stringify({ date, machine, ...result }, undefined, 2)}\n`;
  console.log(text);
  const { SOAK_RECORD } = process.env;
  if (SOAK_RECORD) writeFileSync(SOAK_RECORD, text);
}
