/** Addresses of nodes and relays, as people type them. */
import { invalidArgument } from "../../wasm/js/errors.js";

/** Hosts of this machine and of private networks, which have no certificates. */
const PRIVATE =
  /^(?:localhost|(?:(?:10|127)\.\d+|172\.(?:1[6-9]|2\d|3[01])|192\.168)\.\d+\.\d+|\[::1\]|[^/:]+\.(?:onion|i2p|local))(?::|\/|$)/iu;

const SCHEME = /^[a-z][a-z\d+.-]*:\/\//iu;

/** Adds the scheme to an address without one. A page over HTTPS can reach a public host only so. */
export function completed(address: string): string {
  if (SCHEME.test(address)) return address;
  const isPlain = PRIVATE.test(address) || location.protocol !== "https:";
  return `${isPlain ? "http" : "https"}://${address}`;
}

/** Returns a complete address. Throws `invalid-argument` if no request can go there, and quotes it without a login. */
export function readAddress(name: string, text: string): string {
  const address = completed(text);
  const [scheme = ""] = SCHEME.exec(text) ?? [];
  const host = text.slice(Math.max(scheme.length, text.lastIndexOf("@") + 1));
  const quoted = `“${(scheme + host).slice(0, 200)}”`;
  const url = parsed(address);
  if (!url) {
    const expected = "expected an address such as http://127.0.0.1:18081";
    throw invalidArgument(name, `${expected}, got ${quoted}`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw invalidArgument(name, `expected http: or https:, got ${quoted}`);
  }
  if (url.username || url.password) {
    throw invalidArgument(name, `expected an address without a login, got one in ${quoted}`);
  }
  return address;
}

function parsed(address: string): URL | undefined {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}
