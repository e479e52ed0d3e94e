/** Bytes that arrive in pieces. */
import type { Sink } from "../monero/transport.js";

/** Keeps all bytes of an answer. */
export class Pieces implements Sink<Uint8Array<ArrayBuffer>> {
  readonly #pieces: Uint8Array[] = [];

  push(piece: Uint8Array): void {
    this.#pieces.push(piece.slice());
  }

  end(): Uint8Array<ArrayBuffer> {
    return join(this.#pieces);
  }
}

/** Joins pieces. */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
