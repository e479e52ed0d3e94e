/** Starts the service worker of the page on a static host, which isolates the page and keeps it. */
import { find } from "../shell/page.js";

/** How long the page waits for the service worker before it starts without it, in milliseconds. */
const PATIENCE_MS = 4000;

/** Marks that this tab was reloaded for isolation, so that it is not reloaded again and again. */
const KEY = "isolated";

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
  try {
    const controlled = new Promise((resolve) => {
      workers.addEventListener("controllerchange", resolve, { once: true });
    });
    const registration = await workers.register("./service-worker.js");
    if (registration.waiting && workers.controller && !started.aborted) {
      registration.waiting.postMessage("activate");
      await controlled;
      await reload();
    }
    if (!workers.controller) await controlled;
    if (crossOriginIsolated) sessionStorage.removeItem(KEY);
    else if (!started.aborted && !wasReloaded()) await reload();
    keep(workers);
  } catch {
    // The page works without it.
  }
}

/** Tells whether a newer version waits for this page to go. */
async function isOutdated(workers: ServiceWorkerContainer): Promise<boolean> {
  return Boolean((await workers.getRegistration())?.waiting);
}

/** Keeps all files, and says so in the footer. */
function keep(workers: ServiceWorkerContainer): void {
  workers.addEventListener("message", ({ data }) => {
    if (data === "kept") find(document, "#offline", HTMLElement).hidden = false;
  });
  workers.startMessages();
  workers.controller?.postMessage("keep");
}

/** Tells whether this tab was reloaded for isolation before, and marks it. Throws without storage. */
function wasReloaded(): boolean {
  const before = sessionStorage.getItem(KEY) !== null;
  sessionStorage.setItem(KEY, "");
  return before;
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
