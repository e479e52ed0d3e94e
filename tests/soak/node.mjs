/** A Node process that hashes with the package on request. */
import threads from "node:worker_threads";
import { open, watched } from "./load.mjs";

const live = new Set();
// The package reads the class from this object.
threads.Worker = watched(threads.Worker, live);

const { RandomX } = await import("../../wasm/dist/js/index.js");
const load = await open(RandomX, live);

process.on("message", async ({ id, name, args }) => {
  try {
    process.send({ id, result: await load[name](...args) });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});
process.send({ id: 0, result: "ready" });
