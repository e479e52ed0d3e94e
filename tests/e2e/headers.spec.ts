/** The product's headers and files. */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { expect, test } from "@playwright/test";
import { report } from "./support.js";

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' " +
    "'sha256-adbu9/Q2iZB5qdaSgbStsNEoM8SaovITb/7osZxjy+A='; worker-src 'self'; " +
    "style-src 'self'; connect-src 'self' http: https:; img-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** The most bytes of JavaScript, compressed with Brotli. */
const MOST_JAVASCRIPT = 150_000;

/**
 * The most bytes of each module of WebAssembly, compressed with Brotli. In the one that hashes, code for native processors
 * only would exceed it.
 */
const MOST_WASM: Record<string, number> = {
  randomx_wasm: 39_000,
  randomx_block_wasm: 17_000,
  randomx_monero_wasm: 31_000,
  randomx_follow_wasm: 57_000,
};

/** Returns the paths of all files of the built page. */
function builtFiles(): string[] {
  const folder = fileURLToPath(new URL("../../web/dist", import.meta.url));
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}

test("every answer has the headers and comes from this site", async ({ page, baseURL }) => {
  const answers = new Map<string, Record<string, string>>();
  page.on("response", (response) => answers.set(response.url(), response.headers()));
  await page.goto("/");
  await expect(report(page)).toHaveAttribute("data-state", "valid");

  const kinds = [...answers.keys()].map((url) => /\.\w+$/u.exec(url)?.[0] ?? "page");
  expect(new Set(kinds)).toEqual(new Set(["page", ".js", ".css", ".svg", ".wasm", ".json"]));
  for (const [url, headers] of answers) {
    expect(url.startsWith(baseURL ?? "missing"), url).toBe(true);
    expect(headers, url).toMatchObject(HEADERS);
  }
});

test("a 304 answer has the headers too", async ({ request, baseURL }) => {
  const first = await request.get(baseURL ?? "missing");
  const since = first.headers()["last-modified"] ?? "missing";
  const headers = { "If-Modified-Since": since };
  const second = await request.get(baseURL ?? "missing", { headers });
  expect(second.status()).toBe(304);
  expect(second.headers()).toMatchObject(HEADERS);
});

test("the page and its worker are isolated from other sites", async ({ page }) => {
  await page.goto("/");
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  await expect.poll(() => page.workers().length).toBeGreaterThan(0);
  for (const worker of page.workers()) {
    expect(await worker.evaluate(() => crossOriginIsolated)).toBe(true);
  }
});

test("the policy allows the page's own inline script, by its hash", () => {
  const pages = builtFiles().filter((file) => file.endsWith(".html"));
  expect(pages).toHaveLength(2);
  for (const file of pages) {
    const scripts = [...readFileSync(file, "utf8").matchAll(/<script>([^]*?)<\/script>/gu)];
    const hashes = scripts.map(([, code = ""]) =>
      createHash("sha256").update(code).digest("base64"),
    );
    expect(hashes, file).toHaveLength(1);
    for (const hash of hashes) {
      expect(HEADERS["content-security-policy"], file).toContain(`'sha256-${hash}'`);
    }
  }
});

test("inline code does not run", async ({ page }) => {
  await page.goto("/");
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    return "ran" in window;
  });
  expect(ran).toBe(false);
});

test("the product contains nothing of the tests", () => {
  const dist = builtFiles();
  const kinds = dist.map((file) => /\.\w+$/u.exec(file)?.[0] ?? file);
  // Only a page with a public address has a picture for previews.
  expect(new Set(kinds)).toEqual(new Set([".css", ".html", ".js", ".json", ".svg", ".wasm"]));
  for (const file of dist) {
    expect(readFileSync(file).includes("harness"), file).toBe(false);
    expect(readFileSync(file).includes("conformance"), file).toBe(false);
  }
});

/** Returns the bytes of the built files of a form, compressed with Brotli. */
function compressed(form: RegExp): number[] {
  const files = builtFiles().filter((file) => form.test(file));
  return files.map((file) => brotliCompressSync(readFileSync(file)).length);
}

test("the JavaScript of all views is small", () => {
  const sizes = compressed(/\.js$/u);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  test.info().annotations.push({ type: "JavaScript, bytes", description: String(total) });
  expect(total).toBeGreaterThan(0);
  expect(total).toBeLessThanOrEqual(MOST_JAVASCRIPT);
});

for (const [name, most] of Object.entries(MOST_WASM)) {
  test(`the module ${name} is small`, () => {
    const sizes = compressed(new RegExp(`/${name}_bg-[^/]*\\.wasm$`, "u"));
    test.info().annotations.push({ type: `${name}, bytes`, description: String(sizes) });
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThanOrEqual(most);
  });
}
