import { verify } from "./verify.js";

globalThis.verify = verify;

/** The same from a worker of the project's own. */
globalThis.verifyInWorker = (options) => {
  return ask(new Worker(new URL("./waiting.js", import.meta.url), { type: "module" }), options);
};

/** The hash by a worker of the project's own, in which nothing waits. */
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
