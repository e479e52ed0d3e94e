/**
 * A reader of JSON that arrives in pieces. It keeps only wanted fields, up to a length and a number,
 * so that neither its memory nor the time of a piece depends on what a server sends. It refuses an object
 * that has a wanted field twice.
 */

import { HexText, NotJson, Text, parse } from "./text.js";

/** The most bytes to keep of a field's text, or the most bytes that its hex digits may stand for. */
export type Kept = number | { hex: number };

/** The fields to keep, wherever they are. */
export type Wanted = ReadonlyMap<string, Kept>;

/** A daemon's answers nest four levels deep. */
const MAX_DEPTH = 32;

/** The most kept values: 1,000 headers have 14,000. */
const MAX_KEPT = 16_000;

/** The longest number, and the longest name that is compared. */
const MAX_SHORT = 64;

/** The most spaces between two tokens. A daemon writes a line break and some levels of indentation. */
const MAX_SPACES = 1 << 10;

const QUOTE = 0x22;

/** The tokens that may come next, as bits. */
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
  /** The part of its next value that is kept. */
  limit: Kept;
}

/** Reads one JSON value. */
export class JsonReader {
  readonly #wanted: Wanted;
  readonly #longest: number;
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
  #spaces = 0;
  #isKey = false;
  /** The text that is read, if only its hex digits are of use. */
  #hex: HexText | undefined;

  /** `longest` are the most bytes of a text, kept or not. */
  constructor(wanted: Wanted, longest: number) {
    this.#wanted = wanted;
    this.#longest = longest;
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
    if (isSpace(byte)) {
      this.#spaces += 1;
      if (this.#spaces > MAX_SPACES) throw new NotJson();
      return at + 1;
    }
    this.#spaces = 0;
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
        this.#beginText();
        this.#state = STRING;
        break;
      default:
        this.#expect(VALUE | VALUE_OR_END);
        this.#text.begin(MAX_SHORT, this.#longest);
        this.#state = SCALAR;
        return at;
    }
    return at + 1;
  }

  #expect(states: number): void {
    if ((this.#state & states) === 0) throw new NotJson();
  }

  /** Nothing is kept of a value that is skipped. */
  #beginText(): void {
    const isKept = this.#isKey ? this.#frame.kept !== undefined : this.#isKept();
    const limit = isKept ? (this.#isKey ? MAX_SHORT : this.#frame.limit) : 0;
    this.#hex = typeof limit === "object" ? new HexText(limit.hex) : undefined;
    this.#text.begin(typeof limit === "number" ? limit : 0, this.#longest);
  }

  /** Whether the value that comes next is kept. */
  #isKept(): boolean {
    const { kept, isObject, key } = this.#frame;
    return kept !== undefined && (!isObject || key !== undefined);
  }

  #string(bytes: Uint8Array, from: number): number {
    const at = this.#hex?.read(bytes, from) ?? from;
    if (at === bytes.length) return at;
    const end = this.#text.untilQuote(bytes, at);
    if (end !== at) this.#hex?.spoil();
    if (end === undefined) return bytes.length;
    if (this.#isKey) {
      const text = this.#text.take();
      const { kept } = this.#frame;
      const limit = kept && this.#wanted.get(text);
      // Readers differ in which of two values counts.
      if (limit !== undefined && kept && Object.hasOwn(kept, text)) throw new NotJson();
      this.#frame.key = limit === undefined ? undefined : text;
      this.#frame.limit = limit ?? 0;
      this.#state = COLON;
    } else {
      this.#add(this.#hex ? this.#hex.take() : this.#text.take());
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
    const { limit: own } = this.#frame;
    const limit = typeof own === "number" ? own : 0;
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

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Whether a byte ends a number or a literal. */
function endsScalar(byte: number): boolean {
  return isSpace(byte) || byte === 0x2c || byte === 0x5d || byte === 0x7d;
}
