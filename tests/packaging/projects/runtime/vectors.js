/** Hashes all vectors of a file with one engine: `vectors.js FILE ENGINE`. */
import { readFileSync } from "node:fs";
import { RandomX } from "randomx-web";

const [file, engine] = process.argv.slice(2);
const { vectors } = JSON.parse(readFileSync(file, "utf8"));
const randomx = await RandomX.create({ threads: 2, engine });
let wrong = 0;
for (const key of new Set(vectors.map((vector) => vector.key))) {
  for (const version of [1, 2]) {
    const chosen = vectors.filter((vector) => vector.key === key && vector.version === version);
    const inputs = chosen.map((vector) => vector.input);
    const hashes = await randomx.hashMany(key, inputs, { version });
    wrong += hashes.filter(
      (hash, at) => Buffer.from(hash).toString("hex") !== chosen[at].hash,
    ).length;
  }
}
console.log(
  JSON.stringify({ checked: vectors.length, wrong, engine: randomx.configuration.engine }),
);
