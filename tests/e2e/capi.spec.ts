/**
 * The C library in programs compiled by Emscripten. `cargo test -p randomx-capi` compiles them, and
 * writes the output of the native library beside them.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@playwright/test";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = resolve(root, process.env.CARGO_TARGET_DIR ?? "target", "capi/web");

/** Each program and its arguments. */
const PROGRAMS = { one_hash: [], commitment: [], series: ["20", "2"] };

function page(program: string, args: readonly string[]): string {
  return `<!doctype html>
    <title>A C program</title>
    <script>
      var printed = [];
      var Module = {
        arguments: ${JSON.stringify(args)},
        print: (line) => printed.push(line),
      };
    </script>
    <script src="${program}.js"></script>`;
}

for (const [program, args] of Object.entries(PROGRAMS)) {
  test(
    `${program}.c prints the same as with the native library`,
    { tag: "@full" },
    async ({ page: tab }) => {
      const native = join(folder, `${program}.txt`);
      const hint = "first run `cargo test -p randomx-capi --profile checked`";
      expect(existsSync(native), hint).toBe(true);
      const expected = readFileSync(native, "utf8").trim().split("\n");

      await tab.route("**/capi/*", (route) => {
        const name = new URL(route.request().url()).pathname.split("/").pop() ?? "";
        return name === "index.html"
          ? route.fulfill({ contentType: "text/html", body: page(program, args) })
          : route.fulfill({ path: join(folder, name) });
      });
      const problems: string[] = [];
      tab.on("pageerror", (error) => problems.push(error.message));
      await tab.goto("/capi/index.html");
      const printed = () => tab.evaluate<string[]>("printed");
      const count = async () => (await printed()).length;
      await expect.poll(count, { timeout: 90_000 }).toBe(expected.length);
      expect(await printed()).toEqual(expected);
      expect(problems).toEqual([]);
    },
  );
}
