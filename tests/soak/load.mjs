/**
 * The load on the package, the same in a page and in Node. `live` holds the workers that have started and
 * not ended.
 */
export async function open(RandomX, live) {
  const randomx = await RandomX.create({ threads: 2, slots: 2 });
  return {
    workers: () => live.size,
    hash: async ({ key, version, inputs }) => {
      const hashes = await randomx.hashMany(key, inputs, { version });
      return hashes.map(hex);
    },
    disturb: async (fault, { key, version, inputs }, ms) => {
      const abort = new AbortController();
      const running = randomx.hashMany(key, inputs, { version, signal: abort.signal });
      const ended = running.then(
        () => "done",
        (error) => error.code,
      );
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (fault === "abort") abort.abort();
      else [...live][0]?.terminate();
      return ended;
    },
  };
}

/** Returns a worker class that keeps `live` up to date. */
export function watched(Worker, live) {
  return class extends Worker {
    constructor(...args) {
      super(...args);
      live.add(this);
    }

    terminate() {
      live.delete(this);
      return super.terminate();
    }
  };
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
