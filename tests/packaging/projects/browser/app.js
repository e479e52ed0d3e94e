import { RandomX } from "randomx-web";
import { block } from "./block.js";

/** Resolves with what the tests want to know. */
globalThis.verify = async (options) => {
  const randomx = await RandomX.create({ threads: 2, ...options });
  const { valid, hash } = await randomx.verifyBlock(block);
  const { threads } = randomx.configuration;
  randomx.dispose();
  const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { valid, hash: hex, threads };
};

/** The same by a worker of the project's own, in which nothing waits. */
globalThis.hashInWorker = (options) => {
  const worker = new Worker(new URL("./blocking.js", import.meta.url), { type: "module" });
  worker.postMessage(options);
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  }).finally(() => worker.terminate());
};
