/**
 * The service worker of the page on a static host. It adds the page's headers to the answers with the page's
 * files, so that the page is isolated where the host cannot send them, and keeps these files for use
 * offline. The page and the service worker of one version use the files of that version.
 */
import policy from "../headers.json" with { type: "json" };

/** The parts of a service worker's scope that this one uses. TypeScript has no types for both scopes. */
interface Scope {
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void>; matchAll(): Promise<readonly unknown[]> };
  registration: { scope: string; active: unknown; installing: unknown; waiting: unknown };
  addEventListener(type: "install" | "activate", listener: (event: Extendable) => void): void;
  addEventListener(type: "message", listener: (event: Extendable & MessageEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetch) => void): void;
}

interface Extendable {
  waitUntil(work: Promise<unknown>): void;
}

interface Fetch extends Extendable {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** The build replaces both. */
declare const __FILES__: Readonly<Record<string, string | readonly string[]>>;
declare const __VERSION__: string;

/**
 * The names of the files, with their SHA-256 in base64. A host may add to a page, such as a script that counts visits, so
 * a page has the names of its files instead.
 */
const FILES = new Map(Object.entries(__FILES__));

/** The page itself, whose address need not end with the name of its file. */
const PAGE = "index.html";

const scope = self as unknown as Scope;

/** Begins the names of this folder's caches. Another folder of the host may have a page of its own. */
const PREFIX = `randomx-${scope.registration.scope} `;
const CACHE = PREFIX + __VERSION__;

scope.addEventListener("install", (event) => {
  // A version that replaces another keeps all its files first, so that it works offline too. If the host rewrites
  // some, it is installed without them and without pages: otherwise the visitors would stay on the old version. If the
  // host does not send the pages of this version, the old version stays.
  if (scope.registration.active) event.waitUntil(keepAll());
});

scope.addEventListener("activate", (event) => {
  event.waitUntil(scope.clients.claim());
});

scope.addEventListener("message", (event) => {
  if (event.data === "activate") event.waitUntil(scope.skipWaiting());
  if (event.data === "claim") event.waitUntil(scope.clients.claim());
  if (event.data === "keep") event.waitUntil(keepAndReport());

  async function keepAndReport(): Promise<void> {
    const isKept = await keepAll();
    // If the host rewrites files, the open page may be of the version before, and need its files.
    await forgetOthers(isKept ? 0 : 1);
    if (isKept) event.source?.postMessage("kept");
  }
});

scope.addEventListener("fetch", (event) => {
  const { request } = event;
  const { href, pathname } = new URL(request.url);
  if (request.method !== "GET" || !href.startsWith(scope.registration.scope)) return;
  const name = pathname.slice(new URL(scope.registration.scope).pathname.length) || PAGE;
  if (isOfPage(name)) event.respondWith(answer(name, request));
});

/**
 * Whether a file belongs to a version of the page. Other pages of the host may be below this folder, and need other
 * headers. Some hosts leave endings out of addresses.
 */
function isOfPage(name: string): boolean {
  return FILES.has(name) || FILES.has(`${name}.html`) || name.startsWith("assets/");
}

async function answer(name: string, request: Request): Promise<Response> {
  return withHeaders((await kept(name)) ?? (await fetch(request)));
}

/** Returns a file, if it was kept and the browser's storage works. */
async function kept(name: string): Promise<Response | undefined> {
  try {
    // A page of another version, which was open before, may still ask for its own files.
    const from = FILES.has(name) ? await caches.open(CACHE) : caches;
    return await from.match(address(name));
  } catch {
    return undefined;
  }
}

/** Returns the same answer with the page's headers. It is not redirected, even if the host's was. */
function withHeaders(answer: Response): Response {
  const { body, status, statusText, headers, type } = answer;
  // The browser follows it, and asks for the other address here.
  if (type === "opaqueredirect") return answer;
  if (status === 0) return Response.error();
  const all = new Headers(headers);
  for (const [name, parts] of Object.entries(policy)) all.set(name, parts.join("; "));
  const isEmpty = [101, 204, 205, 304].includes(status);
  return new Response(isEmpty ? null : body, { status, statusText, headers: all });
}

/**
 * Keeps all files, the pages last: visits use a kept page, and the host may no longer have its files. Returns false if the
 * host rewrites a file. Then the pages are not kept, but checked too. Throws if the host does not send this version.
 */
async function keepAll(): Promise<boolean> {
  const rank = (name: string): number => Number(isPage(name)) + Number(name === PAGE);
  const names = [...FILES.keys()].sort((a, b) => rank(a) - rank(b));
  let areBuilt = true;
  for (const name of names) areBuilt = (await keep(name, areBuilt)) && areBuilt;
  return areBuilt;
}

/** Keeps a file, a page only `withPages`. Returns false, and keeps nothing, if the host rewrites it. */
async function keep(name: string, withPages: boolean): Promise<boolean> {
  const cache = await caches.open(CACHE);
  if (await cache.match(address(name))) return true;
  // The browser's own cache may still have the file of an earlier version.
  const request = new Request(address(name), { cache: "reload" });
  const answer = await fetch(request);
  if (!answer.ok) throw new Error(`${name}: status ${answer.status}`);
  const expected = FILES.get(name) ?? [];
  const isBuilt =
    typeof expected === "string"
      ? await isFile(name, expected, answer.clone())
      : hasFiles(name, expected, await answer.clone().text());
  if (isBuilt && (withPages || !isPage(name))) await cache.put(request, answer);
  return isBuilt;
}

function isPage(name: string): boolean {
  return typeof FILES.get(name) !== "string";
}

/** Returns whether a file is the one that was built. Throws if it is a page. */
async function isFile(name: string, hash: string, file: Response): Promise<boolean> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  if (btoa(String.fromCharCode(...digest)) === hash) return true;
  // Some hosts send a page with status 200 for a file that they do not have, perhaps not yet.
  if (file.headers.get("Content-Type")?.startsWith("text/html"))
    throw new Error(`${name}: got a page`);
  return false;
}

/** Returns whether a page names its files. Throws if it is of another version, or of something else. */
function hasFiles(name: string, files: readonly string[], page: string): boolean {
  // A host that is being updated may send its pages and its service worker from two versions.
  for (const [, file = ""] of page.matchAll(/"\.\/(assets\/[^"]+)"/gu)) {
    if (!FILES.has(file)) throw new Error(`${name}: ${file} is of another version`);
  }
  // Some hosts send a page of their own with status 200 during maintenance, or to log in.
  const assets = [...FILES.keys()].filter((file) => file.startsWith("assets/"));
  if (!assets.some((file) => page.includes(file)))
    throw new Error(`${name}: expected a page that names files of this version`);
  // Some hosts send another page with status 200 for one that they do not have.
  return files.every((file) => page.includes(file));
}

function address(name: string): string {
  return new URL(name === PAGE ? "./" : name, scope.registration.scope).href;
}

/** Removes the files of all but the `spared` newest other versions, unless another open page or the next may need them. */
async function forgetOthers(spared: number): Promise<void> {
  const names = await caches.keys();
  const { installing, waiting } = scope.registration;
  if (installing || waiting || (await scope.clients.matchAll()).length > 1) return;
  // In the order in which they were made.
  const others = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  const old = others.slice(0, Math.max(0, others.length - spared));
  await Promise.all(old.map((name) => caches.delete(name)));
}
