import { RandomX } from "randomx-web";

const randomx = await RandomX.create({ threads: 2 });
await randomx.prepare("00");
await randomx[Symbol.asyncDispose]();
// Without the wait for its workers, this process would end here without printing.
console.log(JSON.stringify("disposed"));
