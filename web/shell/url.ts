/** Addresses of nodes and relays, as people type them. */

/** Hosts of this machine and of private networks, which have no certificates. */
const PRIVATE =
  /^(?:localhost|(?:(?:10|127)\.\d+|172\.(?:1[6-9]|2\d|3[01])|192\.168)\.\d+\.\d+|\[::1\]|[^/:]+\.(?:onion|i2p|local))(?::|\/|$)/iu;

/** Adds the scheme to an address without one. A page over HTTPS can reach a public host only so. */
export function completed(address: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\//iu.test(address)) return address;
  const isPlain = PRIVATE.test(address) || location.protocol !== "https:";
  return `${isPlain ? "http" : "https"}://${address}`;
}
