import { RandomX } from "randomx-web";

const randomx = await RandomX.create({ threads: 2 });
await randomx.prepare("00");
await randomx[Symbol.asyncDispose]();
// A process that has nothing else to do has waited until the workers were gone.
console.log(JSON.stringify("disposed"));
