/** Isolation from other sites, without which workers cannot share a cache. */
import { find } from "./page.js";

/** Says in a part of a view that threads need isolation, if this page lacks it. */
export function showIsolation(root: ParentNode): void {
  const note = find(root, '[data-part="isolation"]', HTMLElement);
  note.hidden = crossOriginIsolated;
  const remedy = isSecureContext
    ? "Its server should send the headers Cross-Origin-Opener-Policy: same-origin and" +
      " Cross-Origin-Embedder-Policy: require-corp."
    : "Browsers isolate only pages with an address that begins with https://, or on this machine" +
      " with http://localhost.";
  note.textContent =
    "This browser has one thread for this page, because the page is not isolated from other sites. " +
    remedy;
}
