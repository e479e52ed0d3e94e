/** Serves the built product with faults, by a small server of the test's own. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import sirv from "sirv";
import { headers as right } from "../../vite.config.js";

/** The faults of the server. */
export interface Fault {
  /** Replacements of headers; an empty one is not sent. */
  headers?: Record<string, string>;
  /** Files that are missing. */
  missing?: RegExp;
}

/** Serves the harness without the headers that isolate it from other sites. */
export function serveHarness(work: (url: string) => Promise<void>): Promise<void> {
  const headers = { "Cross-Origin-Opener-Policy": "", "Cross-Origin-Embedder-Policy": "" };
  return serve({ headers }, "results/harness", work);
}

/** Serves the product on a free port of 127.0.0.1 while `work` runs. */
export function serveWith<T>(fault: Fault, work: (url: string) => Promise<T>): Promise<T> {
  return serve(fault, "../../web/dist", work);
}

async function serve<T>(
  fault: Fault,
  folder: string,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const headers = Object.entries({ ...right, ...fault.headers }).filter(([, value]) => value);
  const files = sirv(fileURLToPath(new URL(folder, import.meta.url)));
  const server = createServer((request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    const notFound = (): void => {
      response.writeHead(404).end();
    };
    if (fault.missing?.test(request.url ?? "")) notFound();
    else files(request, response, notFound);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
