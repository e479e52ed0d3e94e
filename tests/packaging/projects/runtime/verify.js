import { RandomX } from "randomx-web";
import { block } from "./block.js";

const randomx = await RandomX.create({ threads: 2 });
const { valid, hash } = await randomx.verifyBlock(block);
const { threads } = randomx.configuration;
console.log(JSON.stringify({ valid, hash: Buffer.from(hash).toString("hex"), threads }));
// Not disposed: idle workers must not keep a process alive.
