/** Writes the list of the page's files into the service worker, with their hashes or the files that they name. */
import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/** The name of the service worker's file, without its ending. */
export const SERVICE_WORKER = "service-worker";

/** The files that visitors load. The others are for hosts. `preview.png` is for previews of links. */
const LOADED = /\.(?:html|js|css|svg|wasm|json)$/u;
const FOR_HOSTS = /^(?:servers\/|vercel\.json$)/u;

/** Writes the list of files into the service worker, with a version that changes with any of them. */
export const serviceWorker: Plugin = {
  name: "service-worker",
  enforce: "post",
  generateBundle: {
    order: "post",
    handler(_options, bundle) {
      const hash = createHash("sha256");
      const assets = Object.keys(bundle).filter((name) =>
        /^assets\/.*\.(?:js|css|svg)$/u.test(name),
      );
      const files: Record<string, string | string[]> = {};
      for (const [name, file] of Object.entries(bundle).sort(([a], [b]) => (a < b ? -1 : 1))) {
        const content = file.type === "chunk" ? file.code : file.source;
        hash.update(name).update(content);
        if (LOADED.test(name) && !FOR_HOSTS.test(name) && name !== `${SERVICE_WORKER}.js`) {
          const isPage = name.endsWith(".html") && typeof content === "string";
          files[name] = isPage
            ? assets.filter((asset) => content.includes(asset))
            : sha256(content);
        }
      }
      const own = bundle[`${SERVICE_WORKER}.js`];
      if (own?.type !== "chunk") throw new Error("the build has no service worker");
      const version = hash.digest("hex").slice(0, 16);
      for (const [name, value] of Object.entries({ FILES: files, VERSION: version })) {
        if (!own.code.includes(`__${name}__`)) throw new Error(`service worker: expected ${name}`);
        own.code = own.code.replace(`__${name}__`, JSON.stringify(value));
      }
    },
  },
};

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("base64");
}
