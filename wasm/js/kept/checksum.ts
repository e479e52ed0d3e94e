/** A checksum that notices what storage may do to a file: changed bits, lost sectors, and sectors in another order. */

/** The primes of xxHash32. */
const [P1, P2] = [0x9e3779b1, 0x85ebca77];

/** The four lanes of xxHash32. They detect accidents only: anyone who can write the file can write a checksum. */
export class Checksum {
  /** Bytes of a checksum. */
  static readonly SIZE = 16;

  #lanes: [number, number, number, number] = [P1 + P2, P2, 0, -P1];

  /** Adds bytes. Their number and their offset in the buffer are multiples of 16. */
  add({ buffer, byteOffset, byteLength }: Uint8Array): void {
    const words = new Int32Array(buffer, byteOffset, byteLength / Int32Array.BYTES_PER_ELEMENT);
    let [a, b, c, d] = this.#lanes;
    // By index: an iterator takes several times as long.
    for (let at = 0; at < words.length; at += 4) {
      a = mixed(a, words[at] ?? 0);
      b = mixed(b, words[at + 1] ?? 0);
      c = mixed(c, words[at + 2] ?? 0);
      d = mixed(d, words[at + 3] ?? 0);
    }
    this.#lanes = [a, b, c, d];
  }

  /** Returns the checksum of all bytes so far. */
  bytes(): Uint8Array {
    return new Uint8Array(Int32Array.from(this.#lanes).buffer);
  }
}

/** A round of xxHash32. */
function mixed(lane: number, word: number): number {
  const sum = (lane + Math.imul(word, P2)) | 0;
  return Math.imul((sum << 13) | (sum >>> 19), P1);
}
