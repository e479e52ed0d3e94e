/** The parts of a Monero hashing blob, for people to read; the check itself takes it whole. */

/** A part of a blob: its name, its bytes in hex, and what they say. */
export interface Part {
  name: string;
  hex: string;
  value: string;
}

/** What a blob says when it is cut into the fields of a block header. */
export interface Reading {
  parts: Part[];
  /** When the block was made, in seconds since 1970. */
  timestamp: number;
}

/** Cuts the blob, in hex, of a block that is known to be well formed. */
export function readBlob(blob: string): Reading {
  const reader = new Reader(blob);
  const major = reader.varint();
  const minor = reader.varint();
  const timestamp = reader.varint();
  const previous = reader.bytes(32);
  const nonce = reader.bytes(4);
  const root = reader.bytes(32);
  const count = reader.varint();
  return {
    timestamp: timestamp.value,
    parts: [
      { name: "Major version", hex: major.hex, value: String(major.value) },
      { name: "Minor version", hex: minor.hex, value: String(minor.value) },
      { name: "Timestamp", hex: timestamp.hex, value: String(timestamp.value) },
      { name: "Previous block’s id", hex: previous, value: previous },
      { name: "Nonce", hex: nonce, value: String(littleEndian(nonce)) },
      { name: "Root of the transactions", hex: root, value: root },
      { name: "Number of transactions", hex: count.hex, value: String(count.value) },
    ],
  };
}

/** Takes a string of hex from the front. */
class Reader {
  #rest: string;

  constructor(hex: string) {
    this.#rest = hex;
  }

  bytes(count: number): string {
    const taken = this.#rest.slice(0, 2 * count);
    this.#rest = this.#rest.slice(2 * count);
    return taken;
  }

  /** Seven bits a byte, the lowest first; the top bit says that more follow. */
  varint(): { hex: string; value: number } {
    let hex = "";
    let value = 0;
    let byte: number;
    do {
      const next = this.bytes(1);
      byte = Number.parseInt(next, 16);
      value += (byte & 0x7f) * 2 ** (7 * (hex.length / 2));
      hex += next;
    } while (byte & 0x80);
    return { hex, value };
  }
}

function littleEndian(hex: string): number {
  const bytes = hex.match(/../gu) ?? [];
  return Number.parseInt(bytes.reverse().join(""), 16);
}
