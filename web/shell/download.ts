/** Saving files. */
import { make } from "./page.js";

/** How long a browser may take to start reading the file, in milliseconds. */
const KEPT_MS = 10_000;

/** Makes the browser save a text or bytes as a file. */
export function download(
  name: string,
  type: "application/json" | "text/csv" | "application/octet-stream",
  content: string | Uint8Array,
): void {
  // The evidence of a chain is no shared memory.
  const part = typeof content === "string" ? content : (content as Uint8Array<ArrayBuffer>);
  const url = URL.createObjectURL(new Blob([part], { type }));
  const anchor = make("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, KEPT_MS);
}
