import { RandomX } from "randomx-web";
import { block } from "./block.js";

/** Verifies the block, and resolves with the values that the tests check. */
export async function verify(options) {
  const randomx = await RandomX.create({ threads: 2, ...options });
  const { valid, hash } = await randomx.verifyBlock(block);
  const { threads } = randomx.configuration;
  randomx.dispose();
  const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { valid, hash: hex, threads };
}
