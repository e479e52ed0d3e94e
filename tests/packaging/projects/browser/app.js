import { verify } from "./verify.js";

globalThis.verify = verify;

/** Calls `verify` in a worker of the project's own. */
globalThis.verifyInWorker = (options) => {
  return ask(new Worker(new URL("./waiting.js", import.meta.url), { type: "module" }), options);
};

/** Hashes synchronously in a worker of the project's own. */
globalThis.hashInWorker = (options) => {
  return ask(new Worker(new URL("./blocking.js", import.meta.url), { type: "module" }), options);
};

function ask(worker, options) {
  worker.postMessage(options);
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  }).finally(() => worker.terminate());
}
