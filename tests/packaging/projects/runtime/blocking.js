import { createVm, initCache } from "randomx-web/sync";
import { block } from "./block.js";

const hash = createVm(initCache(block.seedHash)).calculateHash(block.hashingBlob);
console.log(JSON.stringify(Buffer.from(hash).toString("hex")));
