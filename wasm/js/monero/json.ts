/**
 * A reader of JSON that arrives in pieces. It keeps only wanted fields, up to a length and a number,
 * so that neither its memory nor the time of a piece depends on what a server sends.
 */

/** The fields to keep, wherever they are, with the most bytes of their text. */
export type Wanted = ReadonlyMap<string, number>;

/** The bytes are not JSON, nest too deeply, or have too many wanted values. */
export class NotJson extends Error {}

/** A daemon's answers nest four levels deep. */
const MAX_DEPTH = 32;

/** The most kept values: 1,000 headers have 14,000. */
const MAX_KEPT = 16_000;

/** The longest number, and the longest name that is compared. */
const MAX_SHORT = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What comes next, as bits. */
const VALUE = 1;
const VALUE_OR_END = 2;
const KEY = 4;
const KEY_OR_END = 8;
const COLON = 16;
const SEPARATOR = 32;
const STRING = 64;
const SCALAR = 128;
const NOTHING = 256;

/** An object or an array that has begun. */
interface Frame {
  isObject: boolean;
  /** Its kept values. `undefined` if it is skipped. */
  kept: Record<string, unknown> | unknown[] | undefined;
  /** The wanted name whose value comes next, of an object. */
  key: string | undefined;
  /** The most bytes of the text of its next value. */
  limit: number;
}

/** Reads one JSON value. */
export class JsonReader {
  readonly #wanted: Wanted;
  /** One for each depth, so that nothing is allocated for what is skipped. The first is the root's. */
  readonly #frames: Frame[] = Array.from({ length: MAX_DEPTH + 1 }, () => ({
    ...{ isObject: false, key: undefined, limit: MAX_SHORT },
    kept: [],
  }));
  readonly #root: unknown[] = [];
  readonly #text = new Text();
  #depth = 0;
  #frame: Frame;
  #state = VALUE;
  #kept = 0;
  #isKey = false;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
    this.#frame = this.#frameAt(0);
    this.#frame.kept = this.#root;
  }

  /** Reads the next bytes. */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#state === STRING) at = this.#string(bytes, at);
      else if (this.#state === SCALAR) at = this.#scalar(bytes, at);
      else at = this.#token(bytes, at);
    }
  }

  /** Returns the value, all of whose bytes were read. */
  end(): unknown {
    if (this.#state === SCALAR) this.#endScalar();
    if (this.#state !== NOTHING) throw new NotJson();
    return this.#root[0];
  }

  #token(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] ?? 0;
    if (isSpace(byte)) return at + 1;
    switch (byte) {
      case 0x7b: // {
      case 0x5b: // [
        this.#expect(VALUE | VALUE_OR_END);
        this.#open(byte === 0x7b);
        break;
      case 0x7d: // }
        this.#expect(KEY_OR_END | SEPARATOR);
        this.#close(true);
        break;
      case 0x5d: // ]
        this.#expect(VALUE_OR_END | SEPARATOR);
        this.#close(false);
        break;
      case 0x2c: // ,
        this.#expect(SEPARATOR);
        this.#state = this.#frame.isObject ? KEY : VALUE;
        break;
      case 0x3a: // :
        this.#expect(COLON);
        this.#state = VALUE;
        break;
      case QUOTE:
        this.#expect(VALUE | VALUE_OR_END | KEY | KEY_OR_END);
        this.#isKey = (this.#state & (KEY | KEY_OR_END)) !== 0;
        this.#text.begin(this.#textLimit());
        this.#state = STRING;
        break;
      default:
        this.#expect(VALUE | VALUE_OR_END);
        this.#text.begin(MAX_SHORT);
        this.#state = SCALAR;
        return at;
    }
    return at + 1;
  }

  #expect(states: number): void {
    if ((this.#state & states) === 0) throw new NotJson();
  }

  /** Returns the bytes to keep of a text: none of a value that is skipped. */
  #textLimit(): number {
    if (this.#isKey) return this.#frame.kept ? MAX_SHORT : 0;
    return this.#isKept() ? this.#frame.limit : 0;
  }

  /** Whether the value that comes next is kept. */
  #isKept(): boolean {
    const { kept, isObject, key } = this.#frame;
    return kept !== undefined && (!isObject || key !== undefined);
  }

  #string(bytes: Uint8Array, from: number): number {
    const end = this.#text.untilQuote(bytes, from);
    if (end === undefined) return bytes.length;
    if (this.#isKey) {
      const text = this.#text.take();
      const limit = this.#frame.kept && this.#wanted.get(text);
      this.#frame.key = limit === undefined ? undefined : text;
      this.#frame.limit = limit ?? 0;
      this.#state = COLON;
    } else {
      this.#add(this.#text.take());
    }
    return end + 1;
  }

  #scalar(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length && !endsScalar(bytes[at] ?? 0)) at += 1;
    this.#text.add(bytes, from, at);
    if (at < bytes.length) this.#endScalar();
    return at;
  }

  #endScalar(): void {
    const text = this.#text.take();
    if (text.length > MAX_SHORT) throw new NotJson();
    this.#add(parse(text));
  }

  #open(isObject: boolean): void {
    if (this.#depth === MAX_DEPTH) throw new NotJson();
    const { limit } = this.#frame;
    const kept = this.#isKept() ? (isObject ? {} : []) : undefined;
    if (kept) this.#put(kept);
    this.#depth += 1;
    this.#frame = this.#frameAt(this.#depth);
    Object.assign(this.#frame, { isObject, kept, key: undefined, limit });
    this.#state = isObject ? KEY_OR_END : VALUE_OR_END;
  }

  #close(isObject: boolean): void {
    if (this.#depth === 0 || this.#frame.isObject !== isObject) throw new NotJson();
    this.#depth -= 1;
    this.#frame = this.#frameAt(this.#depth);
    this.#next();
  }

  #add(value: unknown): void {
    if (this.#isKept()) this.#put(value);
    this.#next();
  }

  #put(value: unknown): void {
    this.#kept += 1;
    if (this.#kept > MAX_KEPT) throw new NotJson();
    const { kept, key } = this.#frame;
    if (Array.isArray(kept)) kept.push(value);
    else if (kept && key !== undefined) kept[key] = value;
  }

  #next(): void {
    this.#state = this.#depth === 0 ? NOTHING : SEPARATOR;
  }

  #frameAt(depth: number): Frame {
    const frame = this.#frames[depth];
    if (!frame) throw new NotJson();
    return frame;
  }
}

const decoder = new TextDecoder();

/** A text that arrives in pieces, of which at most a number of bytes is kept, and one more. */
class Text {
  #bytes = new Uint8Array(2 * MAX_SHORT);
  #length = 0;
  #room = 0;
  #hasEscape = false;
  /** The hex digits that an escape still needs, or -1 for its letter. */
  #escape = 0;

  begin(limit: number): void {
    this.#length = 0;
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

/** Returns what an escape needs after a byte of it. */
function afterEscaped(byte: number, needed: number): number {
  const character = String.fromCharCode(byte);
  if (needed > 0 && /[0-9a-fA-F]/u.test(character)) return needed - 1;
  if (needed < 0 && character === "u") return 4;
  if (needed < 0 && '"\\/bfnrt'.includes(character)) return 0;
  throw new NotJson();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotJson();
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Whether a byte ends a number or a literal. */
function endsScalar(byte: number): boolean {
  return isSpace(byte) || byte === 0x2c || byte === 0x5d || byte === 0x7d;
}
