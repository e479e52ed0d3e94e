/** What a visitor of the page downloads. */
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";

const ASSETS = fileURLToPath(new URL("../../../web/dist/assets", import.meta.url));

/** Bytes after Brotli of each script, the page's own among them, and of the WebAssembly. */
export function downloads(): Record<string, number> {
  const files = readdirSync(ASSETS).filter((name) => /\.(js|wasm)$/u.test(name));
  return Object.fromEntries(
    files.map((name) => [name, brotliCompressSync(readFileSync(`${ASSETS}/${name}`)).length]),
  );
}
