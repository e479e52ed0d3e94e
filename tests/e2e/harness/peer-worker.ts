/** The worker that runs randomx.js. */
import { randomx_create_vm, randomx_init_cache } from "randomx.js";
import { toHex } from "./hex.js";
import type { PeerRequest, PeerTimes } from "./peer.js";

self.onmessage = ({ data: { key, warmUp, inputs } }: MessageEvent<PeerRequest>) => {
  const answer = (times: PeerTimes | undefined): void => {
    self.postMessage(times);
  };
  if (!randomx_init_cache || !randomx_create_vm) {
    answer(undefined);
    return;
  }
  const start = performance.now();
  const cache = randomx_init_cache(key);
  const filled = performance.now();
  const vm = randomx_create_vm(cache);
  const [first = ""] = warmUp.map((input) => toHex(vm.calculate_hash(input)));
  const warm = performance.now();
  for (const input of inputs) vm.calculate_hash(input);
  const hash = (performance.now() - warm) / inputs.length;
  answer({ cache: filled - start, hash, first });
};
