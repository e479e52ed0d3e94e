import { load } from "randomx-web/sync";

/** With the types of a page or of a worker, a compiled module is a source too. */
export async function start(bytes: ArrayBuffer): Promise<void> {
  await load(await WebAssembly.compile(bytes));
}
