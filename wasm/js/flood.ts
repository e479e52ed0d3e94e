/**
 * Answers that cannot be throttled. WebKit buffers an answer as fast as it arrives, even if the page reads slowly,
 * and stops after an abort only when the connection is briefly idle. So in WebKit few requests run at a time, and
 * those with large limits run one by one. The thread that follows a chain sends the requests of its worker, and
 * reads each answer without a pause: a worker's abort passes through that thread, behind the data.
 */
import { unlessAborted } from "./abort.js";
import { READS_ON } from "./body.js";
import { isJavaScriptCore } from "./environment.js";

/** Whether the engine buffers an unread answer without limit, as WebKit does. */
export const BUFFERS_WITHOUT_LIMIT = READS_ON && isJavaScriptCore();

/** Milliseconds until an abort has taken effect. Measured with a server on the same machine: 50. */
export const ABORT_DELAY = 200;

/**
 * Milliseconds after which a request no longer counts among those in flight, so that slow sources do not hold up
 * others. A source that waits as long before it sends without end is limited by the connection's speed only.
 */
export const FLOOD_WINDOW = 1000;

/** An answer is longer than its limit. */
export class TooLarge extends Error {}

/** Reads a body without a pause. The caller aborts the request if it fails. */
export async function readAll(
  body: ReadableStream<Uint8Array>,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array[]> {
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  for (let length = 0; ;) {
    const { done, value } = await unlessAborted(reader.read(), signal);
    if (done) return pieces;
    length += value.length;
    if (length > limit) throw new TooLarge();
    pieces.push(value);
  }
}
