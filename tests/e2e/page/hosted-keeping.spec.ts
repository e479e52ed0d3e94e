/** Tests the page on a static host while its files are not kept, or not all. */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import sirv from "sirv";
import { expect, test, visit, type Visit } from "../browsers/page.js";
import { findsUpdate, hasVersion, host, untilKept, versionOf } from "./static-host.js";

/** Matches a file that only one view loads. */
const MISSING = /\/client-[\w-]+\.js$/u;

/** Waits until the page was reloaded, which ends what is being evaluated in it, and has its service worker. */
async function untilIsolated(view: Visit): Promise<void> {
  await expect(async () => {
    expect(await view.of("html", "crossOriginIsolated")).toBe(true);
    await view.until('.view [role="alert"]');
  }).toPass({ timeout: 30_000 });
}

/**
 * Visits a host that sends the page in place of a file that it does not have, and again when it has all. Returns what
 * a script reads of the promise of the files that are kept then.
 */
async function keptAfterFallback(
  started: Parameters<typeof visit>[0],
  missing: RegExp,
  script: string,
): Promise<unknown> {
  const files = sirv(versionOf("first"), { dev: true });
  let [isWhole, asked] = [false, 0];
  const { address, stop } = await host((request, response, next) => {
    if (!isWhole && missing.test(request.url ?? "")) {
      asked += 1;
      request.url = "/";
    }
    files(request, response, next);
  });
  const view = await visit(started, "#/nothing", address);
  await untilIsolated(view);
  await expect.poll(() => asked).toBeGreaterThan(0);
  isWhole = true;
  await view.tab.reload();
  await untilKept(view);
  const kept = await view.of("html", `caches.open("randomx-${address} first")${script}`);
  await view.tab.close();
  stop();
  return kept;
}

test(
  "a page whose files were not all kept starts after an update of its host",
  { tag: "@full" },
  async ({ started }) => {
    const [first, second] = ["first", "second"].map((name) => sirv(versionOf(name), { dev: true }));
    let current: typeof first = (request, response, next) => {
      if (MISSING.test(request.url ?? "")) void next?.();
      else first?.(request, response, next);
    };
    const { address, stop } = await host((...asked) => current?.(...asked));
    const view = await visit(started, "#/nothing", address);
    await untilIsolated(view);
    expect(await view.count('script[src$="assets/first.js"]')).toBe(1);
    current = second;
    await view.tab.reload();
    await view.until('.view [role="alert"]');
    expect(await view.count('script[src$="assets/second.js"]')).toBe(1);
    // Its service worker is found meanwhile, and replaces the first at the next visit.
    await expect.poll(() => hasVersion(view, "waiting")).toBe(true);
    await expect(async () => {
      // A page that has waited too long for it keeps no files.
      await view.tab.reload();
      await view.until("#offline:not([hidden])", 10_000);
    }).toPass({ timeout: 60_000 });
    await view.tab.close();
    stop();
  },
);

test(
  "without a network, a page whose files were not all kept is the browser's to explain",
  { tag: "@full" },
  async ({ started }) => {
    const files = sirv(versionOf("first"), { dev: true });
    const { address, stop } = await host((request, response, next) => {
      if (MISSING.test(request.url ?? "")) void next?.();
      else files(request, response, next);
    });
    const view = await visit(started, "#/nothing", address);
    await untilIsolated(view);
    stop();
    const page = 'fetch("./").then(() => "kept", ({ name }) => name)';
    expect(await view.of("html", page)).toBe("TypeError");
    await view.tab.close();
  },
);

test(
  "a page that a host sends for a missing file is not kept as that file",
  { tag: "@full" },
  async ({ started }) => {
    const types = `.then((cache) => cache.matchAll())
      .then((answers) => answers.filter(({ url }) => url.endsWith(".js")))
      .then((answers) => answers.map(({ headers }) => headers.get("Content-Type")))
      .then((types) => [...new Set(types)])`;
    expect(await keptAfterFallback(started, MISSING, types)).toEqual(["text/javascript"]);
  },
);

test(
  "a page that a host sends for the documentation is not kept as it",
  { tag: "@full" },
  async ({ started }) => {
    const documentation = `.then((cache) => cache.match(new URL("documentation.html", location).href))
      .then((answer) => answer.text())`;
    const kept = await keptAfterFallback(started, /^\/documentation\.html$/u, documentation);
    expect(kept).not.toContain("assets/first.js");
  },
);

test(
  "a version whose scripts the host rewrites replaces another, and keeps nothing altered",
  { tag: "@full" },
  async ({ started }) => {
    const [first, second] = ["first", "second"].map((name) => sirv(versionOf(name), { dev: true }));
    type Host = typeof first;
    let [current, page, isRewritten, asked] = [first, first, false, 0];
    const { address, stop } = await host((request, response, next) => {
      if (isRewritten && MISSING.test(request.url ?? "")) {
        response.setHeader("Content-Type", "text/javascript");
        response.end(`// minified`);
      } else {
        if (request.url === "/") asked += 1;
        (request.url === "/" ? page : current)?.(request, response, next);
      }
    });
    const view = await visit(started, "#/nothing", address);
    await untilKept(view);
    [current, isRewritten] = [second, true];
    const updatesWith = (sent: Host): Promise<boolean> => {
      page = sent;
      return findsUpdate(view);
    };
    // Some server of the host still has the old page.
    expect(await updatesWith(first)).toBe(false);
    const login: Host = (_request, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end("<h1>Log in</h1>");
    };
    expect(await updatesWith(login)).toBe(false);
    expect(await updatesWith(second)).toBe(true);
    await expect(async () => {
      // A page that has waited too long starts with the old version.
      await view.tab.reload();
      expect(await view.count('script[src$="assets/second.js"]')).toBe(1);
    }).toPass({ timeout: 30_000 });
    // A page of the old version could still be open, and need its files.
    const before = asked;
    const keep = 'navigator.serviceWorker.controller.postMessage("keep")';
    await view.of("html", keep);
    await expect.poll(() => asked).toBeGreaterThan(before);
    await pause(1000);
    const [old, kept] = [`randomx-${address} first`, `randomx-${address} second`];
    expect(await view.of("html", "caches.keys()")).toEqual([old, kept]);
    const pages = `caches.open("${kept}").then((cache) => cache.keys())
      .then((all) => all.filter(({ url }) => /(?:\\/|html)$/u.test(url)).length)`;
    expect(await view.of("html", pages)).toBe(0);
    expect(await view.of("#offline", "it.hidden")).toBe(true);
    // Of several other versions only the newest keeps its files.
    const newest = `randomx-${address} third`;
    await view.of("html", `caches.open("${newest}").then(() => { ${keep}; })`);
    await expect.poll(() => view.of("html", "caches.keys()")).toEqual([kept, newest]);
    isRewritten = false;
    await view.tab.reload();
    await untilKept(view);
    expect(await view.of("html", "caches.keys()")).toEqual([kept]);
    expect(await view.of("html", pages)).toBe(2);
    await view.tab.close();
    stop();
  },
);

test(
  "the page opens where the browser's store of files fails",
  { tag: "@full" },
  async ({ started }) => {
    const folder = versionOf("first");
    const script = `${folder}/service-worker.js`;
    const failing = `addEventListener("message", ({ data }) => {
      if (data !== "fail") return;
      const fail = () => Promise.reject(new DOMException("no disk", "UnknownError"));
      Object.assign(CacheStorage.prototype, { open: fail, match: fail });
    });`;
    writeFileSync(script, failing + readFileSync(script, "utf8"));
    const { address, stop } = await host(sirv(folder, { dev: true }));
    const view = await visit(started, "#/nothing", address);
    await untilKept(view);
    await view.of("html", 'navigator.serviceWorker.controller.postMessage("fail")');
    await view.tab.reload();
    await view.until('.view [role="alert"]');
    expect(await view.of("html", "crossOriginIsolated")).toBe(true);
    await view.tab.close();
    stop();
  },
);
