/**
 * The C library in a program that Emscripten has compiled. `cargo test -p randomx-capi` compiles it,
 * and leaves what the native library prints beside it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@playwright/test";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = resolve(root, process.env.CARGO_TARGET_DIR ?? "target", "capi/web");

const PAGE = `<!doctype html>
  <title>A C program</title>
  <script>
    var printed = [];
    var Module = { arguments: ["20", "2"], print: (line) => printed.push(line) };
  </script>
  <script src="series.js"></script>`;

test("a C program prints the hashes of the native library", async ({ page }) => {
  const native = join(folder, "series.txt");
  expect(existsSync(native), "first run `cargo test -p randomx-capi --profile checked`").toBe(true);
  const expected = readFileSync(native, "utf8").trim().split("\n");
  expect(expected).toHaveLength(20);

  await page.route("**/capi/*", (route) => {
    const name = new URL(route.request().url()).pathname.split("/").pop() ?? "";
    return name === "index.html"
      ? route.fulfill({ contentType: "text/html", body: PAGE })
      : route.fulfill({ path: join(folder, name) });
  });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto("/capi/index.html");
  const printed = () => page.evaluate<string[]>("printed");
  const count = async () => (await printed()).length;
  await expect.poll(count, { timeout: 90_000 }).toBe(expected.length);
  expect(await printed()).toEqual(expected);
  expect(problems).toEqual([]);
});
