/** Loading the page's own files. */

/** An error that says that the page's server is gone. */
export class ServerGone extends Error {
  constructor(cause: unknown) {
    super("the server of this page does not answer", { cause });
    this.name = "ServerGone";
  }
}

/** Fetches one of the page's own files. */
export async function load(url: string, signal?: AbortSignal): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(url, { signal: signal ?? null });
  } catch (error) {
    signal?.throwIfAborted();
    throw new ServerGone(error);
  }
  if (answer.ok) return answer;
  throw new Error(`the server of this page answers with status ${answer.status}`);
}
