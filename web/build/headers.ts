/** The page's headers, in the forms that static hosts read. */
import type { Plugin } from "vite";
import policy from "../headers.json" with { type: "json" };

const headers = Object.entries(policy).map(([name, parts]) => ({ name, value: parts.join("; ") }));

/** Files with a hash of their content in their names. */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Files that keep their names in the next version, so that browsers must ask for them again. */
const REVALIDATED = "no-cache";
const RENEWED = ["/", "/index.html", "/documentation.html", "/documentation", "/service-worker.js"];

/** Files for hosts, by name. Each host reads its own and ignores the others. */
function files(): Record<string, string> {
  const lines = (line: (header: { name: string; value: string }) => string): string =>
    headers.map((header) => `${line(header)}\n`).join("");
  return {
    // Netlify and Cloudflare Pages, in the root of the site.
    _headers:
      `/*\n${lines(({ name, value }) => `  ${name}: ${value}`)}` +
      `/assets/*\n  Cache-Control: ${IMMUTABLE}\n` +
      RENEWED.map((path) => `${path}\n  Cache-Control: ${REVALIDATED}\n`).join(""),
    // Apache.
    ".htaccess":
      `AddType application/wasm .wasm\n<IfModule mod_headers.c>\n` +
      lines(({ name, value }) => `  Header always set ${name} "${value}"`) +
      `  <FilesMatch "(\\.html|^service-worker\\.js)$">\n` +
      `    Header set Cache-Control "${REVALIDATED}"\n  </FilesMatch>\n</IfModule>\n`,
    "vercel.json": `${JSON.stringify(
      {
        headers: [
          {
            source: "/(.*)",
            headers: headers.map(({ name, value }) => ({ key: name, value })),
          },
          ...RENEWED.map((source) => ({
            source,
            headers: [{ key: "Cache-Control", value: REVALIDATED }],
          })),
        ],
      },
      undefined,
      2,
    )}\n`,
    // To include in a server's or a location's block. "always" adds them to answers with status 304.
    // Nothing that is allowed in both blocks tells files apart, so browsers ask for each file again.
    "servers/nginx.conf":
      lines(({ name, value }) => `add_header ${name} "${value}" always;`) +
      `add_header Cache-Control "${REVALIDATED}" always;\n`,
    "servers/Caddyfile":
      `header {\n${lines(({ name, value }) => `  ${name} "${value}"`)}}\n` +
      `@renewed path */ *.html */service-worker.js\n` +
      `header @renewed Cache-Control "${REVALIDATED}"\n`,
    // GitHub Pages would leave out files whose names begin with "_".
    ".nojekyll": "",
  };
}

/** Writes the files into the built folder. */
export const headerFiles: Plugin = {
  name: "header-files",
  generateBundle() {
    for (const [fileName, source] of Object.entries(files())) {
      this.emitFile({ type: "asset", fileName, source });
    }
  },
};

/** Puts the policy into the page too, for hosts that send no headers. */
export const policyElement: Plugin = {
  name: "policy-element",
  transformIndexHtml: () => {
    // An element cannot forbid frames.
    const parts = policy["Content-Security-Policy"].filter(
      (part) => !part.startsWith("frame-ancestors"),
    );
    const attrs = { "http-equiv": "Content-Security-Policy", content: parts.join("; ") };
    return [{ tag: "meta", attrs, injectTo: "head-prepend" }];
  },
};
