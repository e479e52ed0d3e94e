import { verify } from "./verify.js";

globalThis.onmessage = async ({ data }) => {
  globalThis.postMessage(await verify(data));
};
