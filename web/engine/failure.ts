/** Words for work that failed. */
import { causeOf } from "../shell/load.js";
import { failure } from "../shell/words.js";
import { NativeError } from "./native.js";

/** Describes why this browser or the native build did not finish its work. */
export async function workFailure(thrown: unknown): Promise<string> {
  const cause = await causeOf(thrown);
  return cause instanceof NativeError ? `${cause.message}.` : failure(cause);
}
