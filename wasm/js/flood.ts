/**
 * Answers that cannot be held back. WebKit reads an answer as fast as it arrives, however slowly a page takes
 * it, and ends an aborted one only when the line pauses for a moment. So in WebKit few answers arrive at a time,
 * those that may be long one by one; the page's own thread reads each without a pause, because a worker's
 * requests pass through it; and nothing follows a long one, or one that was cut off, until its memory is free.
 */
import { isJavaScriptCore, nodeThreads } from "./environment.js";

/** Whether the system reads an answer on while nobody takes its bytes, to its end. */
export const READS_WITHOUT_END = nodeThreads() === undefined && isJavaScriptCore();

/** The time within which an aborted answer ends, in milliseconds. A server on the same machine saw 50. */
export const EBB = 200;

/** The time after which an answer is no flood, in milliseconds. A flood has reached its limit by then. */
export const SLOW = 1000;

/** An answer is longer than its limit. */
export class TooLarge extends Error {}

/** Reads a body without a pause. The caller aborts the request if it fails. */
export async function readAll(
  body: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array[]> {
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  for (let length = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return pieces;
    length += value.length;
    if (length > limit) throw new TooLarge();
    pieces.push(value);
  }
}
