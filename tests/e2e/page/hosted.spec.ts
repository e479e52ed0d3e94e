/** The page as `npm run build:page` makes it, on a host that serves files and nothing else. */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import sirv from "sirv";
import { headers } from "../../../vite.config.js";
import { expect, test, visit } from "../browsers/page.js";

const site = fileURLToPath(new URL("../../../web/site", import.meta.url));

/** Serves the folder below a path, without any header of its own, until `stop` is called. */
async function host(): Promise<{ address: string; stop: () => void }> {
  const files = sirv(site, { dev: true });
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    const notFound = (): void => {
      response.writeHead(404).end();
    };
    if (!path.startsWith("/some/folder/")) {
      notFound();
      return;
    }
    request.url = path.slice("/some/folder".length);
    files(request, response, notFound);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/folder/`,
    stop,
  };
}

test(
  "from a subfolder without headers the page is isolated, has two threads, and works offline",
  { tag: "@full" },
  async ({ started }) => {
    const { address, stop } = await host();
    const view = await visit(started, "#/bench?threads=2&seconds=1&lanes=2", address);
    // The first visit reloads the page, which ends what is being evaluated in it.
    await expect(async () => {
      expect(await view.of("html", "crossOriginIsolated")).toBe(true);
    }).toPass({ timeout: 30_000 });
    await view.until("#offline:not([hidden])");
    await view.click(".bench-form [type=submit]");
    await view.says('[data-part="verdict"]', /2 workers, 2 lanes/u, 90_000);

    stop();
    await view.go("");
    await view.tab.reload();
    await view.until('#report[data-state="valid"]');
    expect(await view.of("html", "crossOriginIsolated")).toBe(true);
    await view.go("#/explore?hashes=4");
    await view.says('[data-part="status"]', /^The hash is/u, 60_000);
    await view.tab.close();
  },
);

test(
  "the folder has relative addresses, and the headers for common hosts",
  {
    tag: "@chromium",
  },
  () => {
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
    }
    expect(existsSync(`${site}/.nojekyll`)).toBe(true);
  },
);
