/**
 * The entry of native code. The worker imports it at run time in Node, Deno and Bun only: its address is
 * computed, so no bundler follows it into programs for browsers.
 */
import { loadAddon } from "./addon.js";
import { NativeSession, type NativeSetting } from "./session.js";

/** Opens a session with the add-on. Throws an `Error` that says what is missing or broken. */
export function openSession(
  address: string | undefined,
  setting: NativeSetting,
  pause: () => Promise<void>,
): NativeSession {
  return new NativeSession(loadAddon(address), setting, pause);
}
