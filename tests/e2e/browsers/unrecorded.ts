/** Tabs whose traffic nothing records, and Chromium's. */
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, CDPSession } from "@playwright/test";

/**
 * A browser without a driver that records. Playwright has Chromium and Firefox keep the bodies of answers, in
 * memory that a test of memory would count.
 */
export interface UnrecordedBrowser {
  /** Opens a page in a new tab, and waits until an expression is true in it. */
  open(url: string, isReady: string): Promise<UnrecordedTab>;
  close(): Promise<void>;
}

/** A tab of such a browser. */
export interface UnrecordedTab {
  /** Evaluates an expression, awaits its value, and returns that through JSON. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

/** Opens such tabs in a browser that Playwright started, which stays open. */
export function unrecordedChromium(browser: Browser): UnrecordedBrowser {
  return {
    open: (url, isReady) => ChromiumTab.open(browser, url, isReady),
    close: () => Promise.resolve(),
  };
}

interface Reply {
  id: number;
  error?: { message: string };
  result: { result: { value?: unknown }; exceptionDetails?: { text: string } };
}

/**
 * Playwright has Chromium keep the bodies of all answers of its tabs, up to 100 MiB in the memory of the page.
 * It ignores this tab, which belongs to none of its contexts.
 */
class ChromiumTab implements UnrecordedTab {
  readonly #chromium: CDPSession;
  readonly #targetId: string;
  readonly #sessionId: string;
  readonly #pending = new Map<number, (reply: Reply) => void>();
  #calls = 0;

  private constructor(chromium: CDPSession, targetId: string, sessionId: string) {
    this.#chromium = chromium;
    this.#targetId = targetId;
    this.#sessionId = sessionId;
    chromium.on("Target.receivedMessageFromTarget", ({ message }) => {
      const reply = JSON.parse(message) as Reply;
      this.#pending.get(reply.id)?.(reply);
      this.#pending.delete(reply.id);
    });
  }

  static async open(browser: Browser, url: string, isReady: string): Promise<ChromiumTab> {
    const chromium = await browser.newBrowserCDPSession();
    const { targetId } = await chromium.send("Target.createTarget", { url });
    // A session with an own connection would be Playwright's.
    const attached = await chromium.send("Target.attachToTarget", { targetId, flatten: false });
    const tab = new ChromiumTab(chromium, targetId, attached.sessionId);
    // Before the page has begun, there is nothing that evaluates.
    while ((await tab.evaluate(isReady).catch(() => false)) !== true) await pause(50);
    return tab;
  }

  async evaluate(expression: string): Promise<unknown> {
    const id = (this.#calls += 1);
    const reply = new Promise<Reply>((resolve) => this.#pending.set(id, resolve));
    const params = { expression, awaitPromise: true, returnByValue: true };
    await this.#chromium.send("Target.sendMessageToTarget", {
      sessionId: this.#sessionId,
      message: JSON.stringify({ id, method: "Runtime.evaluate", params }),
    });
    const { error, result } = await reply;
    const problem = error?.message ?? result.exceptionDetails?.text;
    if (problem !== undefined) throw new Error(problem);
    return result.result.value;
  }

  async close(): Promise<void> {
    await this.#chromium.send("Target.closeTarget", { targetId: this.#targetId });
    await this.#chromium.detach();
  }
}
