/**
 * Times the WebAssembly build in this Node: `npm run bench:node [-- ROUNDS]`.
 *
 * The measurements take turns in each round, so that a busy moment of the machine affects all of them.
 * It prints medians and ranges.
 */
import { readFileSync } from "node:fs";
import * as wasm from "../../wasm/pkg/randomx_wasm.js";

const rounds = Number(process.argv[2] ?? 7);
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error("ROUNDS: expected a whole number of at least 1");
  process.exit(2);
}

wasm.initSync({
  module: readFileSync(new URL("../../wasm/pkg/randomx_wasm_bg.wasm", import.meta.url)),
});
const key = new TextEncoder().encode("bench");
let inputs = 0;
const features = wasm.detectFeatures();
const memory = wasm.cacheMemory(false);
const cache = makeCache();

/** The timed tasks. `results` is the number of hashes or caches of one run. */
const tasks = [
  { name: "cache init", results: 1, run: () => makeCache().free() },
  ...[1, 16].map(itemsInBatches),
  ...[1, 2].flatMap((version) =>
    [false, true].flatMap((compiled) => [1, 8].map((lanes) => hashing(version, compiled, lanes))),
  ),
];

const times = tasks.map(() => []);
for (const { run } of tasks) run();
for (let round = 0; round < rounds; round += 1) {
  tasks.forEach(({ results, run }, index) => {
    const start = performance.now();
    run();
    times[index].push((performance.now() - start) / results);
  });
}

console.log(`Node ${process.version}, ${rounds} rounds, milliseconds each`);
console.table(Object.fromEntries(tasks.map(({ name }, index) => [name, summary(times[index])])), [
  "median",
  "least",
  "most",
]);

function makeCache() {
  const builder = new wasm.CacheBuilder(key, memory, features);
  while (builder.fill(1 << 16) < 1);
  const filled = new wasm.Cache(memory, builder.items(), 1);
  builder.free();
  return filled;
}

/** A hash needs 16,384 items. In v1, 8 lanes compute batches of 16. */
function itemsInBatches(batch) {
  const count = 1024;
  const numbers = Uint32Array.from({ length: count }, (_, index) => (index * 2654435761) >>> 7);
  return {
    name: `${count} dataset items, ${batch} at a time`,
    results: 1,
    run: () => {
      for (let first = 0; first < count; first += batch) {
        cache.items(numbers.subarray(first, first + batch));
      }
    },
  };
}

function hashing(version, compiled, lanes) {
  const vm = new wasm.Vm(cache, lanes, compiled, features);
  const engine = compiled ? "modules" : "interpreter";
  return {
    name: `hash, v${version}, ${engine}, ${lanes} ${lanes === 1 ? "lane" : "lanes"}`,
    results: lanes,
    run: () => vm.hashMany(version, Array.from({ length: lanes }, input)),
  };
}

/** Never the same twice, because engines cache the code of compiled modules. */
function input() {
  inputs += 1;
  return Uint8Array.of(inputs & 255, inputs >> 8);
}

function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part) => Number(sorted[Math.floor(part * (sorted.length - 1))].toFixed(1));
  return { median: at(0.5), least: at(0), most: at(1) };
}
