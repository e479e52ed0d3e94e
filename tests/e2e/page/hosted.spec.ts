/** The page as `npm run build:page` makes it, on a host that serves files and nothing else. */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import sirv from "sirv";
import { headers } from "../../../vite.config.js";
import { expect, test, visit } from "../browsers/page.js";
import {
  findsUpdate,
  hasVersion,
  host,
  lookForUpdate,
  site,
  untilKept,
  versionOf,
} from "./static-host.js";

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

    // Without a network, a worker that is lost is not the server's fault.
    await view.go("#/nothing");
    await view.tab.reload();
    await view.until('.view [role="alert"]');
    await view.of(
      "html",
      "{ globalThis.Worker = class { constructor() { throw new Error(); } }; }",
    );
    await view.go("#/verify");
    await view.says("#report .verdict", /^The worker of this page stopped/u);
    await view.tab.close();
  },
);

test(
  "an update replaces the page, though the browser could keep its old file for years",
  { tag: "@full" },
  async ({ started }) => {
    // Not in development, `sirv` sends the date of each file, and nothing about caching.
    let current = sirv(versionOf("first"));
    const { address, stop } = await host((...asked) => {
      current(...asked);
    });
    const view = await visit(started, "#/nothing", address);
    // The first visit reloads the page, which ends what is being evaluated in it.
    await untilKept(view);
    current = sirv(versionOf("second"));
    await lookForUpdate(view);
    await expect.poll(() => hasVersion(view, "waiting")).toBe(true);
    // The new version is complete before it replaces the old one, which worked offline.
    const files = (name: string): Promise<number> =>
      view.of(
        "html",
        `caches.open("randomx-${address} ${name}").then((all) => all.keys()).then((k) => k.length)`,
      );
    expect(await files("second")).toBe(await files("first"));
    expect(await files("second")).toBeGreaterThan(10);
    // Another folder of this host has its own.
    await view.of("html", `caches.open("randomx-${address}other/ first").then(() => true)`);
    const other = await view.another("#/nothing");
    // It begins with the new version; the first page goes on with the files of the old one.
    const entry = 'fetch("./assets/first.js", { cache: "no-store" }).then(({ status }) => status)';
    await expect(async () => {
      // A page that has waited too long starts with the old version.
      await other.tab.reload();
      expect(await other.count('script[src$="assets/second.js"]')).toBe(1);
    }).toPass({ timeout: 30_000 });
    await other.until("#offline:not([hidden])");
    expect(await view.of("html", entry)).toBe(200);
    expect(await view.of("html", "caches.keys()")).toContain(`randomx-${address} first`);
    await other.tab.goto("about:blank");
    await view.tab.reload();
    await view.until('.view [role="alert"]');
    // The last page of the old version is gone, and so are its files.
    const left = [`randomx-${address} second`, `randomx-${address}other/ first`];
    await expect.poll(() => view.of("html", "caches.keys()")).toEqual(left);
    const kept = `caches.match(new URL("./", location).href).then((answer) => answer.text())`;
    expect(await view.of<string>("html", kept)).toContain("assets/second.js");
    await view.tab.close();
    stop();
  },
);

test(
  "a page that has started is not reloaded when a new version comes late",
  { tag: "@full" },
  async ({ started }) => {
    const late = `{
      const { postMessage } = ServiceWorker.prototype;
      ServiceWorker.prototype.postMessage = function (message) {
        setTimeout(() => postMessage.call(this, message), message === "activate" ? 20_000 : 0);
      };
    }`;
    const [first, second] = ["first", "second"].map((name) => {
      const folder = versionOf(name);
      const page = readFileSync(`${folder}/index.html`, "utf8");
      const script = '<head><script src="./late.js"></script>';
      writeFileSync(`${folder}/index.html`, page.replace("<head>", script));
      writeFileSync(`${folder}/late.js`, late);
      return sirv(folder);
    });
    let current = first;
    const { address, stop } = await host((...asked) => current?.(...asked));
    const view = await visit(started, "#/verify?from=paste", address);
    await untilKept(view);
    current = second;
    await lookForUpdate(view);
    await expect.poll(() => hasVersion(view, "waiting")).toBe(true);
    await view.tab.reload();
    await view.fill("#block", "00");
    expect(await hasVersion(view, "waiting")).toBe(true);
    await expect.poll(() => hasVersion(view, "waiting")).toBe(false);
    await pause(1000);
    expect(await view.of("#block", "it.value")).toBe("00");
    // Its own files are still there.
    const entry = 'fetch("./assets/first.js", { cache: "no-store" }).then(({ status }) => status)';
    expect(await view.of("html", entry)).toBe(200);
    await view.tab.close();
    stop();
  },
);

test(
  "an update waits until the host sends the page and its files from one version",
  { tag: "@full" },
  async ({ started }) => {
    const [first, second] = ["first", "second"].map((name) => sirv(versionOf(name), { dev: true }));
    let current = first;
    const { address, stop } = await host((...asked) => current?.(...asked));
    const view = await visit(started, "#/nothing", address);
    await untilKept(view);
    // The host sends its page for files that it does not have yet.
    current = (request, ...rest) => {
      if (request.url?.endsWith(".wasm")) request.url = "/";
      second?.(request, ...rest);
    };
    expect(await findsUpdate(view)).toBe(false);
    // Some server of the host still has the old page.
    current = (...asked) => (asked[0].url === "/" ? first : second)?.(...asked);
    expect(await findsUpdate(view)).toBe(false);
    await view.tab.reload();
    await view.until('script[src$="assets/first.js"]');
    current = second;
    expect(await findsUpdate(view)).toBe(true);
    await expect(async () => {
      // A page that has waited too long starts with the old version.
      await view.tab.reload();
      expect(await view.count('script[src$="assets/second.js"]')).toBe(1);
    }).toPass({ timeout: 30_000 });
    await view.tab.close();
    stop();
  },
);

test("a host may redirect to addresses without endings", { tag: "@full" }, async ({ started }) => {
  const files = sirv(site, { dev: true });
  const { address, stop } = await host((request, response, next) => {
    if (request.url === "/documentation.html") {
      response.writeHead(308, { Location: "documentation" }).end();
    } else if (request.url?.endsWith(".css")) {
      // So the service worker does not keep the documentation, which comes later.
      void next?.();
    } else {
      if (request.url === "/documentation") request.url = "/documentation.html";
      files(request, response, next);
    }
  });
  const view = await visit(started, "#/nothing", address);
  await expect(async () => {
    expect(await view.of("html", "crossOriginIsolated")).toBe(true);
  }).toPass({ timeout: 30_000 });
  // At times Playwright counts a redirect in Firefox as another navigation, and rejects.
  await expect(() => view.tab.goto(`${address}documentation.html`)).toPass({ timeout: 30_000 });
  await view.says("h1", /./u);
  expect(await view.of("html", "location.pathname")).toBe("/some/folder/documentation");
  await view.tab.close();
  stop();
});

test("another page below the folder stays as it is", { tag: "@full" }, async ({ started }) => {
  const files = sirv(site, { dev: true });
  const { address, stop } = await host((request, response, next) => {
    if (request.url === "/other/") {
      response.setHeader("Content-Type", "text/html");
      response.end('<h1></h1><script>document.querySelector("h1").innerText = "ran"</script>');
    } else {
      files(request, response, next);
    }
  });
  const view = await visit(started, "#/nothing", address);
  await untilKept(view);
  await view.tab.goto(`${address}other/`);
  await view.says("h1", "ran");
  expect(await view.of("html", "crossOriginIsolated")).toBe(false);
  await view.tab.close();
  stop();
});

test(
  "a page that has started is not reloaded when its service worker comes late",
  { tag: "@full" },
  async ({ started }) => {
    const files = sirv(site, { dev: true });
    const { address, stop } = await host((request, response, next) => {
      const wait = request.url === "/service-worker.js" ? 6000 : 0;
      setTimeout(() => {
        files(request, response, next);
      }, wait);
    });
    const view = await visit(started, "#/verify?from=paste", address);
    await view.fill("#block", "00");
    const isControlled = "navigator.serviceWorker.controller !== null";
    await expect.poll(() => view.of("html", isControlled)).toBe(true);
    await view.until("#offline:not([hidden])");
    expect(await view.of("#block", "it.value")).toBe("00");
    await view.tab.close();
    stop();
  },
);

test(
  "a page that was reloaded past its service worker is isolated at once",
  { tag: "@full" },
  async ({ started }) => {
    test.skip(started.name !== "firefox", "only Firefox's pages can reload past a service worker");
    const { address, stop } = await host();
    const view = await visit(started, "documentation.html", address);
    const worker = "navigator.serviceWorker";
    await view.of("html", `${worker}.register("./service-worker.js").then(() => true)`);
    await view.of("html", `${worker}.ready.then(() => true)`);
    await view.go("#/nothing");
    await view.until('.view [role="alert"]');
    // As by Shift+Reload.
    await view.of("html", "{ globalThis.isOld = true; setTimeout(() => location.reload(true)); }");
    await expect(async () => {
      expect(await view.of("html", "[globalThis.isOld ?? false, crossOriginIsolated]")).toEqual([
        false,
        true,
      ]);
    }).toPass({ timeout: 30_000 });
    await view.until('.view [role="alert"]');
    await view.tab.close();
    stop();
  },
);

test("the page starts where the browser blocks its data", { tag: "@full" }, async ({ started }) => {
  const files = sirv(site, { dev: true });
  const page = readFileSync(`${site}/index.html`, "utf8");
  const blocked = `
    const refuse = () => Promise.reject(new DOMException("blocked", "SecurityError"));
    Object.assign(ServiceWorkerContainer.prototype, { getRegistration: refuse, register: refuse });
  `;
  const { address, stop } = await host((request, response, next) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (request.url === "/") {
      response.setHeader("Content-Type", "text/html");
      response.end(page.replace("<head>", '<head><script src="./blocked.js"></script>'));
    } else if (request.url === "/blocked.js") {
      response.setHeader("Content-Type", "text/javascript");
      response.end(blocked);
    } else {
      files(request, response, next);
    }
  });
  const view = await visit(started, "#/nothing", address);
  await view.until('.view [role="alert"]');
  expect(await view.of("html", "crossOriginIsolated")).toBe(true);
  await view.tab.close();
  stop();
});
