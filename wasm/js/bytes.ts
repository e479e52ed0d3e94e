/** Comparisons of bytes. */

/** Returns whether two keys, hashes or ids are the same. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  // A loop, because each share is compared, and a callback for each byte takes some times as long.
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
