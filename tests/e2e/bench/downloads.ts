/** Measures what a visitor downloads of the package. */
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build } from "vite";

const PACKAGE = fileURLToPath(new URL("../../../wasm/js/index.ts", import.meta.url));
const ENTRY = "\0page";
const CODE = `import { RandomX } from ${JSON.stringify(PACKAGE)}; void RandomX.create();`;

/**
 * Returns the bytes after Brotli of each file of a page that contains only the package. A page that hashes loads the
 * script of the page, `worker` and `randomx_wasm`, and the other files only for calls that need them.
 */
export async function downloads(): Promise<Record<string, number>> {
  const output = await build({
    configFile: false,
    logLevel: "error",
    worker: { format: "es" },
    build: { write: false, assetsInlineLimit: 0, rolldownOptions: { input: ENTRY } },
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === ENTRY ? id : undefined),
        load: (id) => (id === ENTRY ? CODE : undefined),
      },
    ],
  });
  const files = [output].flat().flatMap((each) => ("output" in each ? each.output : []));
  const shipped = files.filter(({ fileName }) => /\.(?:js|wasm)$/u.test(fileName));
  return Object.fromEntries(
    shipped.map((file) => [
      file.fileName.replace("assets/", ""),
      brotliCompressSync(file.type === "asset" ? file.source : file.code).length,
    ]),
  );
}
