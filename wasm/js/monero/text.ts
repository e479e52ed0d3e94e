/** Strings of JSON that arrive in pieces. A bounded part is kept. */

/** The bytes are not JSON, nest too deeply, have too many wanted values, or a wanted field twice. */
export class NotJson extends Error {}

/** A text is longer than any that is expected. */
export class TooLong extends Error {}

/** The bytes of most texts, and of the hex digits that are read at first. */
const FIRST = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const decoder = new TextDecoder();

/** A text of which at most a number of bytes is kept, and one more. */
export class Text {
  #bytes = new Uint8Array(FIRST);
  #length = 0;
  #room = 0;
  #hasEscape = false;
  /** The bytes that may still follow. */
  #left = 0;
  /** The hex digits that an escape still needs, or -1 for its letter. */
  #escape = 0;

  /** Begins a text that has at most `longest` bytes, of which `limit` are kept. */
  begin(limit: number, longest: number): void {
    this.#length = 0;
    this.#left = longest;
    this.#room = limit === 0 ? 0 : limit + 1;
    this.#hasEscape = false;
    this.#escape = 0;
  }

  /** Adds bytes up to the quote that ends the string, and returns its place if it is there. */
  untilQuote(bytes: Uint8Array, from: number): number | undefined {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#escape !== 0) {
        this.#escape = afterEscaped(byte, this.#escape);
      } else if (byte === BACKSLASH) {
        this.#escape = -1;
        this.#hasEscape = true;
      } else if (byte === QUOTE) {
        this.add(bytes, from, at);
        return at;
      } else if (byte < 0x20) {
        throw new NotJson();
      }
    }
    this.add(bytes, from, bytes.length);
    return undefined;
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    this.#left -= to - from;
    if (this.#left < 0) throw new TooLong();
    const end = Math.min(to, from + this.#room);
    const length = this.#length + end - from;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(2 * length, this.#length + this.#room));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    // Element by element: most texts are short, and a view of each would be garbage.
    for (let at = from; at < end; at += 1) this.#bytes[this.#length++] = bytes[at] ?? 0;
    this.#room -= end - from;
  }

  take(): string {
    if (this.#length === 0) return "";
    const text = decoder.decode(this.#bytes.subarray(0, this.#length));
    return this.#hasEscape && this.#room > 0 ? (parse(`"${text}"`) as string) : text;
  }
}

/** The value of each byte as a lower-case hex digit, or 255. */
const VALUES = new Uint8Array(256).fill(0xff);
for (let value = 0; value < 16; value += 1) VALUES[value.toString(16).charCodeAt(0)] = value;

/** A text of lower-case hex digits, of which only the bytes are kept that they stand for. */
export class HexText {
  readonly #most: number;
  #bytes = new Uint8Array(FIRST);
  #digits = 0;
  #isHex = true;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Adds digits, and returns the place of the first byte that is none. After {@link spoil} it takes no
   * byte.
   */
  read(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length && this.#isHex; at += 1) {
      const value = VALUES[bytes[at] ?? 0] ?? 0xff;
      if (value === 0xff) break;
      if (this.#digits === 2 * this.#most) throw new TooLong();
      const index = this.#digits >> 1;
      if (index === this.#bytes.length) this.#grow();
      this.#bytes[index] = ((this.#bytes[index] ?? 0) << 4) | value;
      this.#digits += 1;
    }
    return at;
  }

  /** Gives up what was read: the text has other characters. */
  spoil(): void {
    this.#isHex = false;
    this.#bytes = new Uint8Array();
  }

  /** Returns the bytes, or `undefined` if the text was not an even number of digits. */
  take(): Uint8Array<ArrayBuffer> | undefined {
    if (!this.#isHex || this.#digits % 2 === 1) return undefined;
    // Not a view: a message copies the whole buffer of one.
    return this.#bytes.slice(0, this.#digits / 2);
  }

  #grow(): void {
    const larger = new Uint8Array(Math.min(2 * this.#bytes.length, this.#most));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Returns what an escape needs after a byte of it. */
function afterEscaped(byte: number, needed: number): number {
  const character = String.fromCharCode(byte);
  if (needed > 0 && /[0-9a-fA-F]/u.test(character)) return needed - 1;
  if (needed < 0 && character === "u") return 4;
  if (needed < 0 && '"\\/bfnrt'.includes(character)) return 0;
  throw new NotJson();
}

/** Parses a short piece of JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotJson();
  }
}
