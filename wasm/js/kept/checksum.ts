/** A checksum that notices what storage may do to a file: changed bits, and sectors that are lost or in another order. */

/**
 * Fletcher's checksum of 32-bit words, modulo 2^32: the sum of the words, and the sum of these sums after
 * each word. It guards against accidents, not against an author of files.
 */
export class Checksum {
  /** Bytes of a checksum. */
  static readonly SIZE = 8;

  #sum = 0;
  #sums = 0;

  /** Adds bytes: a multiple of eight, at an address that is one too. */
  add({ buffer, byteOffset, byteLength }: Uint8Array): void {
    const words = new Int32Array(buffer, byteOffset, byteLength / Int32Array.BYTES_PER_ELEMENT);
    let sum = this.#sum;
    let sums = this.#sums;
    // By index: an iterator takes several times as long.
    for (let at = 0; at < words.length; at += 2) {
      sum = (sum + (words[at] ?? 0)) | 0;
      sums = (sums + sum) | 0;
      sum = (sum + (words[at + 1] ?? 0)) | 0;
      sums = (sums + sum) | 0;
    }
    this.#sum = sum;
    this.#sums = sums;
  }

  /** Returns the checksum of all bytes so far. */
  bytes(): Uint8Array {
    return new Uint8Array(Int32Array.of(this.#sum, this.#sums).buffer);
  }
}
