/**
 * WebKit, driven by WebDriver: `WebKitWebDriver` starts the MiniBrowser that is installed beside
 * it, on a display in memory.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Builder, By, Capabilities, Key as Keys, type WebDriver } from "selenium-webdriver";
import { freePort } from "../../programs.js";
import type { Browser, Key, StartOptions, Tab } from "./browser.js";

/** The longest that an expression may take, in milliseconds. */
const SCRIPT_TIMEOUT = 15 * 60_000;

/** How long the driver may take until it listens, and the pause between checks, in milliseconds. */
const START_TIMEOUT = 20_000;
const START_STEP = 50;

/** Starts the driver at `WEBKIT_DRIVER_PATH`, or the one on `PATH`. */
export async function startWebKit({ composites = false }: StartOptions = {}): Promise<Browser> {
  const display = await startDisplay();
  const driver = await startDriver(display.number, composites).catch(async (error: unknown) => {
    await stop(display.process);
    throw error;
  });
  const close = async (): Promise<void> => {
    await stop(driver.process);
    await stop(display.process);
  };
  try {
    return { name: "webkit", version: await version(driver.url), open: openAt(driver.url), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts a display. Xvfb picks a free number, and prints it once it accepts connections. */
async function startDisplay(): Promise<{ process: ChildProcess; number: string }> {
  const server = spawn(process.env.XVFB_PATH ?? "Xvfb", [
    ...["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "1280x800x24"],
  ]);
  const ended = exit("Xvfb", server);
  const lines = createInterface({ input: server.stdout });
  const [number] = (await Promise.race([once(lines, "line"), ended])) as [string];
  return { process: server, number };
}

async function startDriver(
  display: string,
  composites: boolean,
): Promise<{ process: ChildProcess; url: string }> {
  const port = await freePort();
  const driver = spawn(
    process.env.WEBKIT_DRIVER_PATH ?? "WebKitWebDriver",
    ["--host=127.0.0.1", `--port=${port}`],
    {
      stdio: "ignore",
      env: {
        ...process.env,
        DISPLAY: `:${display}`,
        // Without this, WebKitGTK has no SharedArrayBuffer even in isolated pages.
        JSC_useSharedArrayBuffer: "1",
        // The sandbox needs rights that a container lacks.
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
        ...(composites ? {} : { WEBKIT_DISABLE_COMPOSITING_MODE: "1" }),
      },
    },
  );
  const ended = exit("WebKitWebDriver", driver);
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_TIMEOUT;
  while (!(await Promise.race([listens(url), ended]))) {
    if (performance.now() > deadline) throw new Error("WebKitWebDriver does not answer");
    await sleep(START_STEP);
  }
  return { process: driver, url };
}

async function listens(url: string): Promise<boolean> {
  return fetch(`${url}/status`).then(
    (answer) => answer.ok,
    () => false,
  );
}

/** Rejects when the program ends or cannot be started. */
async function exit(name: string, program: ChildProcess): Promise<never> {
  const ended = new Promise<never>((_, reject) => {
    program.once("error", reject);
    program.once("exit", (code) => {
      reject(new Error(`${name} ended (${code ?? "by a signal"})`));
    });
  });
  // The program ends after the tests, when nobody awaits this.
  ended.catch(() => undefined);
  return ended;
}

async function stop(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = once(program, "exit");
  program.kill();
  await ended;
}

/** Returns the browser's version, which only a session reports. */
async function version(url: string): Promise<string> {
  const session = await startSession(url);
  try {
    const capabilities = await session.getCapabilities();
    return capabilities.getBrowserVersion() ?? "of an unknown version";
  } finally {
    await session.quit();
  }
}

function startSession(url: string): Promise<WebDriver> {
  const capabilities = new Capabilities({ browserName: "MiniBrowser" });
  return new Builder().usingServer(url).withCapabilities(capabilities).build();
}

/** Each tab is a session of its own: a new MiniBrowser with empty storage. */
function openAt(driver: string): (url: string) => Promise<Tab> {
  return async (url) => {
    const session = await startSession(driver);
    try {
      await session.manage().setTimeouts({ script: SCRIPT_TIMEOUT });
      await session.get(url);
    } catch (error) {
      await session.quit();
      throw error;
    }
    return tabOf(session, { handle: await session.getWindowHandle() });
  };
}

/** Returns the tab that the session is at, which `current` says from then on. */
function tabOf(session: WebDriver, current: { handle: string }): Tab {
  const { handle } = current;
  /** Switches the session to this tab. */
  const here = async (): Promise<WebDriver> => {
    if (current.handle !== handle) {
      await session.switchTo().window(handle);
      current.handle = handle;
    }
    return session;
  };
  return {
    evaluate: async (expression) => evaluate(await here(), expression),
    another: async (url) => {
      await session.switchTo().newWindow("tab");
      current.handle = await session.getWindowHandle();
      await session.get(url);
      return tabOf(session, current);
    },
    goto: async (url) => (await here()).get(url),
    reload: async () => (await here()).navigate().refresh(),
    back: async () => (await here()).navigate().back(),
    forward: async () => (await here()).navigate().forward(),
    click: async (selector) => (await here()).findElement(By.css(selector)).click(),
    press: async (key) => (await here()).actions().sendKeys(KEYS[key]).perform(),
    resize: async (width, height) => resize(await here(), width, height),
    screenshot: async () => Buffer.from(await (await here()).takeScreenshot(), "base64"),
    close: () => session.quit(),
  };
}

const KEYS: Record<Key, string> = {
  Tab: Keys.TAB,
  Enter: Keys.ENTER,
  Space: Keys.SPACE,
  Escape: Keys.ESCAPE,
  ArrowLeft: Keys.ARROW_LEFT,
  ArrowRight: Keys.ARROW_RIGHT,
  "0": "0",
  "1": "1",
};

/** Resizes the viewport. WebDriver sets the size of the window, which includes its bars. */
async function resize(session: WebDriver, width: number, height: number): Promise<void> {
  const window = session.manage().window();
  const outer = await window.getRect();
  const [innerWidth, innerHeight] = (await evaluate(session, "[innerWidth, innerHeight]")) as [
    number,
    number,
  ];
  await window.setRect({
    width: width + outer.width - innerWidth,
    height: height + outer.height - innerHeight,
  });
}

async function evaluate(session: WebDriver, expression: string): Promise<unknown> {
  const outcome = await session.executeAsyncScript<{ value?: unknown; error?: string }>(`
    const done = arguments[arguments.length - 1];
    (async () => (${expression}))().then(
      (value) => done({ value }),
      (error) => done({ error: String(error) + "\\n" + String(error?.stack) }),
    );
  `);
  if (outcome.error !== undefined) throw new Error(outcome.error);
  return outcome.value;
}
