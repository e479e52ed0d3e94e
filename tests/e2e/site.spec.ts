/** The files of the page as `npm run build:page` makes it. No browser is needed for them. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { headers } from "../../vite.config.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const site = `${root}web/site`;

test("the folder has relative addresses, and the headers for common hosts", () => {
  const page = readFileSync(`${site}/index.html`, "utf8");
  const addresses = [...page.matchAll(/(?:src|href)="([^"#]+)"/gu)].map(
    ([, address = ""]) => address,
  );
  expect(addresses.length).toBeGreaterThan(3);
  for (const address of addresses) expect(address).toMatch(/^(?:\.\/|https:\/\/)/u);
  const policy = headers["Content-Security-Policy"];
  expect(page).toContain(policy.replace("; frame-ancestors 'none'", "").replaceAll("'", "&#39;"));
  for (const file of [
    "_headers",
    ".htaccess",
    "vercel.json",
    "servers/nginx.conf",
    "servers/Caddyfile",
  ]) {
    const text = readFileSync(`${site}/${file}`, "utf8");
    for (const [name, value] of Object.entries(headers)) {
      expect(text, file).toContain(name);
      expect(text, file).toContain(value);
    }
    expect(text, file).toMatch(/Cache-Control.*no-cache|"no-cache"/u);
  }
  expect(existsSync(`${site}/.nojekyll`)).toBe(true);
});

/** Builds the page for an address into a folder of the test, and returns the messages of the build. */
async function buildFor(address: string, folder: string): Promise<string> {
  const vite = [`${root}node_modules/vite/bin/vite.js`, "build"];
  const config = ["--config", "web/build/hosted.config.ts", "--outDir", folder];
  const { stdout } = await promisify(execFile)(process.execPath, [...vite, ...config], {
    cwd: root,
    env: { ...process.env, PAGE_URL: address },
  });
  return stdout;
}

/** Returns what each element of a page says about its address and its preview. */
function addressesIn(html: string): Record<string, string> {
  const elements = html.matchAll(
    /<(?:meta\s+(?:property|name)|link\s+rel)="(?<name>og:\w+|twitter:card|canonical)"\s+(?:content|href)="(?<value>[^"]*)"/gu,
  );
  return Object.fromEntries(
    [...elements].map(({ groups }) => [groups?.name ?? "", groups?.value ?? ""]),
  );
}

test("a page with a public address names it, and shows its picture in previews of links", async () => {
  const folder = test.info().outputPath("site");
  const address = "https://example.org/randomx/";
  // Without the last slash, relative addresses would begin one folder higher.
  expect(await buildFor("https://example.org/randomx", folder)).not.toContain("--url");
  const page = addressesIn(readFileSync(`${folder}/index.html`, "utf8"));
  expect(page).toMatchObject({
    canonical: address,
    "og:url": address,
    "twitter:card": "summary_large_image",
  });
  const image = page["og:image"] ?? "";
  expect(image.startsWith(`${address}assets/`), image).toBe(true);
  expect(existsSync(folder + image.slice(address.length - 1)), image).toBe(true);
  const documentation = addressesIn(readFileSync(`${folder}/documentation.html`, "utf8"));
  expect(documentation).toEqual({ canonical: `${address}documentation.html` });
});

test("a page without a public address names none", async () => {
  const built = addressesIn(readFileSync(`${site}/index.html`, "utf8"));
  expect(Object.keys(built).sort()).toEqual(["og:description", "og:title", "og:type"]);
  const folder = test.info().outputPath("site");
  for (const address of ["example.org/randomx", "ftp://example.org/", "https://example.org/?a=b"]) {
    await expect(buildFor(address, folder), address).rejects.toThrow(
      /PAGE_URL: expected an address/u,
    );
  }
  expect(await buildFor("", folder)).toContain("--url https://");
});
