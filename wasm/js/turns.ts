/** Turns of a thread: long work gives way to messages, timers and the user. */

/** How long a turn may take, in milliseconds. */
const TURN_MS = 5;

/** When the current turn began. */
let start = 0;

/** Lets the thread read the messages that have arrived. A timer would wait 4 ms each time. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") {
      setImmediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** Those that wait for a turn, in order. */
const waiting: (() => void)[] = [];

/** Whether the turn has taken long enough. */
export function isOver(): boolean {
  return waiting.length > 0 || performance.now() - start >= TURN_MS;
}

/** Waits for another turn. All work of the thread takes one turn after another. */
export async function rest(): Promise<void> {
  const turn = new Promise<void>((resolve) => waiting.push(resolve));
  if (waiting.length === 1) void takeTurns();
  await turn;
}

async function takeTurns(): Promise<void> {
  while (waiting.length > 0) {
    await pause();
    start = performance.now();
    waiting[0]?.();
    waiting.shift();
  }
}
