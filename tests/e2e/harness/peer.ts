/** Times randomx.js, the peer of the benchmarks, in a worker of its own, as a page would use it. */
import { freshInputs } from "./inputs.js";

/** Milliseconds to fill a cache, and per hash of a batch. */
export interface PeerTimes {
  cache: number;
  hash: number;
  /** The first hash, in hex. */
  first: string;
}

/** The request to the worker. */
export interface PeerRequest {
  key: Uint8Array;
  warmUp: Uint8Array[];
  inputs: Uint8Array[];
}

/** Times the peer; returns nothing if there is none. */
export async function measurePeer(count: number, round: number): Promise<PeerTimes | undefined> {
  const worker = new Worker(new URL("./peer-worker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise<PeerTimes | undefined>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<PeerTimes | undefined>) => {
        resolve(data);
      };
      worker.onerror = ({ message }) => {
        reject(new Error(message));
      };
      const inputs = freshInputs(round)(count);
      const key = Uint8Array.of(round);
      const request: PeerRequest = { key, warmUp: inputs.slice(0, 8), inputs };
      worker.postMessage(request);
    });
  } finally {
    worker.terminate();
  }
}
