/** The SHA-256 hashes of the WebAssembly that this version of the package is built with. */
import { SHA256 as block } from "../block/pkg/hash.js";
import { SHA256 as follow } from "../follow/pkg/hash.js";
import { SHA256 as monero } from "../monero/pkg/hash.js";
import { SHA256 as randomx } from "../pkg/hash.js";

export const modules = { randomx, block, monero, follow };
