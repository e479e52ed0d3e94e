/** Bodies of answers, read in pieces of bounded length. */
import { nodeThreads } from "./environment.js";

/**
 * Whether the system reads an answer on while nobody takes its bytes. Chromium does so for each answer up
 * to 100 MB, between the tasks of the thread that asked.
 */
export const READS_ON = nodeThreads() === undefined;

/** The longest piece, in bytes. */
const PIECE = 64 << 10;

/** Reads a body. */
export interface BodyReader {
  /** Returns the next piece, which is valid until the next call, or `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Gives up the rest. */
  cancel(): void;
}

/**
 * Returns a reader of a body. It fills the same small buffer again and again where the system can do
 * that. Otherwise Chromium and Firefox return up to two megabytes in one piece, even of an answer that
 * is refused after a few bytes. WebKit and Bun cannot fill a buffer.
 */
export function bodyReader(body: ReadableStream<Uint8Array>): BodyReader {
  let filling: ReadableStreamBYOBReader;
  try {
    filling = body.getReader({ mode: "byob" });
  } catch {
    return new Cutting(body.getReader());
  }
  return new Filling(filling);
}

/** Fills a buffer. */
class Filling implements BodyReader {
  readonly #reader: ReadableStreamBYOBReader;
  #buffer = new ArrayBuffer(PIECE);

  constructor(reader: ReadableStreamBYOBReader) {
    this.#reader = reader;
  }

  async read(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#reader.read(new Uint8Array(this.#buffer));
    if (done) return undefined;
    // The stream has moved the buffer.
    this.#buffer = value.buffer;
    return value;
  }

  cancel(): void {
    void this.#reader.cancel().catch(() => undefined);
  }
}

/** Cuts what the system returns. */
class Cutting implements BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  async read(): Promise<Uint8Array | undefined> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, PIECE);
    this.#rest = this.#rest.subarray(PIECE);
    return piece;
  }

  cancel(): void {
    void this.#reader.cancel().catch(() => undefined);
  }
}

/** The most blocks that wait for the next answer. */
const MAX_SPARE = 32;

/** Blocks that no answer uses. New ones for each answer would be as much garbage as all answers. */
const spare: Uint8Array[] = [];

/** Bytes that arrive in pieces of any length, kept in blocks of equal length. */
export class Blocks {
  length = 0;
  #blocks: Uint8Array[] = [];

  /** The bytes so far. */
  get all(): Uint8Array[] {
    return this.#blocks.map((block, index) => block.subarray(0, this.length - index * PIECE));
  }

  /** Drops the bytes, whose blocks others use from now on. */
  free(): void {
    spare.push(...this.#blocks.slice(0, MAX_SPARE - spare.length));
    this.#blocks = [];
    this.length = 0;
  }

  /** Adds bytes. */
  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length;) {
      const used = this.length % PIECE;
      if (used === 0) this.#blocks.push(spare.pop() ?? new Uint8Array(PIECE));
      const part = piece.subarray(at, at + PIECE - used);
      this.#blocks.at(-1)?.set(part, used);
      this.length += part.length;
      at += part.length;
    }
  }
}
