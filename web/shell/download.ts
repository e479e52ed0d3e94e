/** Saving files. */
import { make } from "./page.js";

/** How long a browser may take to start reading the file, in milliseconds. */
const KEPT_MS = 10_000;

/** Makes the browser save a text as a file. */
export function download(name: string, type: "application/json" | "text/csv", text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = make("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, KEPT_MS);
}
