/** Starts the service worker of the page on a static host, which isolates the page and keeps it. */
import { throwIfAborted } from "../shell/abort.js";
import { find } from "../shell/page.js";

/** How long the page waits for the service worker before it starts without it, in milliseconds. */
const PATIENCE_MS = 4000;

/** Holds the time at which this tab was reloaded for isolation, so that it is not reloaded again and again. */
const KEY = "randomx-isolated";

/** The least time between two reloads for isolation after the visitor bypassed the service worker, in milliseconds. */
const PAUSE_MS = 5000;

/**
 * Resolves when the page can start. On a host that sends no headers, the first visit reloads the page
 * once its service worker adds them. A new version of the page replaces the old one here.
 */
export async function startHosted(): Promise<void> {
  // A page on an insecure address has none.
  const workers = (navigator as { serviceWorker?: ServiceWorkerContainer }).serviceWorker;
  if (!workers) return;
  const start = new AbortController();
  const registered = register(workers, start.signal);
  const isReady = crossOriginIsolated && !(await isOutdated(workers));
  if (!isReady) await Promise.race([registered, sleep(PATIENCE_MS)]);
  start.abort();
}

/** Once the page has `started`, it is not reloaded: that would end what the visitor does. */
async function register(workers: ServiceWorkerContainer, started: AbortSignal): Promise<void> {
  // If a page has the service worker's headers already, a second reload would change nothing.
  const pause = workers.controller ? Infinity : PAUSE_MS;
  try {
    const controlled = new Promise((resolve) => {
      workers.addEventListener("controllerchange", resolve, { once: true });
    });
    const registration = await workers.register("./service-worker.js");
    if (registration.waiting && workers.controller && !started.aborted) {
      registration.waiting.postMessage("activate");
      await controlled;
      // A page that has started goes on with the files of its version, which `keep` would remove.
      throwIfAborted(started);
      await reload();
    }
    if (!workers.controller) {
      // A reload that bypasses the browser's cache, as by Shift+Reload, bypasses the service worker too.
      registration.active?.postMessage("claim");
      await controlled;
    }
    if (!crossOriginIsolated && !started.aborted && !wasReloaded(pause)) await reload();
    keep(workers);
  } catch {
    // The page works without it.
  }
}

/** Returns whether a newer version waits for this page to go. A browser that blocks the site's data has none. */
async function isOutdated(workers: ServiceWorkerContainer): Promise<boolean> {
  try {
    return Boolean((await workers.getRegistration())?.waiting);
  } catch {
    return false;
  }
}

/** Keeps all files, and says so in the footer. */
function keep(workers: ServiceWorkerContainer): void {
  workers.addEventListener("message", ({ data }) => {
    if (data === "kept") find(document, "#offline", HTMLElement).hidden = false;
  });
  workers.startMessages();
  workers.controller?.postMessage("keep");
}

/**
 * Returns whether this tab was reloaded for isolation less than `pause` ago, and stores the time. Throws without
 * storage. In Chromium an isolated page could not remove that time: the tab's other pages have a copy of their own.
 */
function wasReloaded(pause: number): boolean {
  const before = Number(sessionStorage.getItem(KEY) ?? -Infinity);
  const now = Date.now();
  sessionStorage.setItem(KEY, String(now));
  return now - before < pause;
}

function reload(): Promise<never> {
  location.reload();
  return new Promise(() => undefined);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
