/**
 * Locks that show in browsers whether a worker lives, where no event reports its end. The worker holds a lock, which the
 * browser frees when the worker is gone, for whatever reason.
 */
import { lockManager } from "./environment.js";

/** Returns the name of a new lock, or `undefined` where there are no locks. */
export function newLock(): string | undefined {
  return lockManager() && `randomx-web ${crypto.randomUUID()}`;
}

/** Takes a lock for the rest of the worker's life. Resolves with whether it is held. */
export function takeLock(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (): Promise<never> => {
      resolve(true);
      return new Promise(() => undefined);
    };
    const fail = (): void => {
      resolve(false);
    };
    // Some contexts have locks but refuse them. Workers in Electron can lack those of their page.
    Promise.resolve(lockManager()?.request(name, hold)).then(fail, fail);
  });
}

/** Reports when the worker that holds a lock is gone, also after its owner has ended it. */
export function watchLock(name: string, failed: (reason: string) => void): void {
  const gone = (): void => {
    failed("the worker is gone");
  };
  // If it is refused, only the other signs of an end are left.
  lockManager()
    ?.request(name, gone)
    .catch(() => undefined);
}
