/** Firefox, driven by WebDriver BiDi without a subscription to its traffic. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import type { Index } from "selenium-webdriver/bidi";
import type { UnrecordedBrowser, UnrecordedTab } from "./unrecorded.js";

/** Its types name an export that the file lacks. */
const BiDi = createRequire(import.meta.url)("selenium-webdriver/bidi/index.js") as typeof Index;

/** Preferences that keep the browser from starting work by itself. */
const PREFERENCES = {
  "app.update.disabledForTesting": true,
  "browser.safebrowsing.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.page": 0,
  "datareporting.policy.dataSubmissionEnabled": false,
  // A process that is kept for the next site.
  "dom.ipc.processPrelaunch.enabled": false,
  "extensions.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
};

/** The pause between two looks for a value, in milliseconds. */
const STEP = 100;

/** The place where the page keeps an expression's outcome. The driver gives up answers that come late. */
const OUTCOME = "globalThis.evaluated";

/** Starts the Firefox at `FIREFOX_PATH`, or the system's, with a profile of its own. */
export async function startUnrecordedFirefox(): Promise<UnrecordedBrowser> {
  const profile = mkdtempSync(join(tmpdir(), "firefox-"));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(profile, "user.js"), lines.join(""));
  const program = spawn(
    process.env.FIREFOX_PATH ?? "firefox",
    ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const end = async (): Promise<void> => {
    if (program.exitCode === null && program.signalCode === null) {
      const ended = once(program, "exit");
      program.kill();
      await ended;
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const connection = new Connection(`${await addressOf(program)}/session`);
    await connection.send("session.new", { capabilities: {} });
    return {
      open: (url, isReady) => open(connection, url, isReady),
      close: async () => {
        await connection.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Returns the address of its WebSocket, which it prints. */
async function addressOf(program: ChildProcess): Promise<string> {
  const { stderr } = program;
  if (!stderr) throw new Error("Firefox has no output");
  for await (const line of createInterface({ input: stderr })) {
    const address = /WebDriver BiDi listening on (ws:\/\/\S+)/u.exec(line)?.[1];
    if (address === undefined) continue;
    // Later output must not fill the pipe.
    stderr.resume();
    return address;
  }
  throw new Error("Firefox ended before it listened");
}

/** A connection that throws what the browser answers as an error. */
class Connection {
  readonly #bidi: Index;

  constructor(address: string) {
    this.#bidi = new BiDi(address);
  }

  async send(method: string, params: Record<string, unknown>): Promise<unknown> {
    const reply = (await this.#bidi.send({ method, params })) as {
      result?: unknown;
      error?: string;
      message?: string;
    };
    if (reply.error !== undefined) throw new Error(`${reply.error}: ${reply.message ?? ""}`);
    return reply.result;
  }

  async close(): Promise<void> {
    await this.#bidi.close();
  }
}

async function open(connection: Connection, url: string, isReady: string): Promise<UnrecordedTab> {
  const created = await connection.send("browsingContext.create", { type: "tab" });
  const { context } = created as { context: string };
  await connection.send("browsingContext.navigate", { context, url, wait: "complete" });
  const now = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = (await connection.send("script.evaluate", {
      ...{ expression: `JSON.stringify(${expression})`, target: { context } },
      ...{ awaitPromise: false, resultOwnership: "none" },
    })) as { result?: { value?: string }; exceptionDetails?: { text: string } };
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result?.value === undefined ? undefined : JSON.parse(result.value);
  };
  while ((await now(isReady)) !== true) await pause(STEP);
  return {
    evaluate: async (expression) => {
      await now(`(
        ${OUTCOME} = null,
        (async () => (${expression}))().then(
          (value) => { ${OUTCOME} = { value }; },
          (error) => { ${OUTCOME} = { problem: String(error) }; },
        ),
        true
      )`);
      for (;;) {
        const outcome = (await now(OUTCOME)) as { value?: unknown; problem?: string } | null;
        if (outcome?.problem !== undefined) throw new Error(outcome.problem);
        if (outcome) return outcome.value;
        await pause(STEP);
      }
    },
    close: async () => {
      await connection.send("browsingContext.close", { context });
    },
  };
}
