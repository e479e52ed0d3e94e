/** A host of static files for the page, and versions of the page for it. */
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import sirv from "sirv";
import { expect, test, type Visit } from "../browsers/page.js";

/** The page as `npm run build:page` makes it. */
export const site = fileURLToPath(new URL("../../../web/site", import.meta.url));

/** Serves the folder below a path, without any header of its own, until `stop` is called. */
export async function host(
  files = sirv(site, { dev: true }),
): Promise<{ address: string; stop: () => void }> {
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

/** Copies the site, changed long ago, with another name of the entry script, and returns its folder. */
export function versionOf(name: string): string {
  const folder = test.info().outputPath(name);
  cpSync(site, folder, { recursive: true });
  const [, entry = "missing"] =
    /src="\.\/assets\/(index-[\w-]+)\.js"/u.exec(readFileSync(`${site}/index.html`, "utf8")) ?? [];
  cpSync(`${folder}/assets/${entry}.js`, `${folder}/assets/${name}.js`);
  const script = `${folder}/service-worker.js`;
  let worker = readFileSync(script, "utf8").replaceAll(entry, name);
  const [version = "missing"] = /\b[\da-f]{16}\b/u.exec(worker) ?? [];
  worker = worker.replace(version, name);
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = `${folder}/${file}`;
    if (/\.(?:html|js)$/u.test(file)) {
      const before = readFileSync(path, "utf8");
      const after = before.replaceAll(entry, name);
      writeFileSync(path, after);
      worker = worker.replace(sha256(before), sha256(after));
    }
    utimesSync(path, 0, 1e9);
  }
  writeFileSync(script, worker);
  utimesSync(script, 0, 1e9);
  return folder;
}

/** Waits until all files are kept. The first visit reloads the page, which ends what is being evaluated in it. */
export async function untilKept(view: Visit): Promise<void> {
  await expect(() => view.until("#offline:not([hidden])")).toPass({ timeout: 30_000 });
}

/** Looks for a new version, as browsers do some time after a visit. */
export async function lookForUpdate(view: Visit): Promise<void> {
  const worker = "navigator.serviceWorker.getRegistration()";
  await view.of("html", `${worker}.then((registration) => registration.update())`);
}

/** Looks for a new version, and returns whether one was installed and waits. */
export async function findsUpdate(view: Visit): Promise<boolean> {
  await lookForUpdate(view);
  await expect.poll(() => hasVersion(view, "installing")).toBe(false);
  return hasVersion(view, "waiting");
}

/** Returns whether a new version is being installed, or waits. */
export function hasVersion(view: Visit, state: "installing" | "waiting"): Promise<boolean> {
  const worker = "navigator.serviceWorker.getRegistration()";
  return view.of("html", `${worker}.then((registration) => Boolean(registration.${state}))`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
