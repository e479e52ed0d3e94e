/** The interface of a browser for specs and benchmarks, whatever its protocol. */

/** The names of the tested browsers. */
export type BrowserName = "chromium" | "firefox" | "webkit";

/** A running browser. */
export interface Browser {
  readonly name: BrowserName;
  readonly version: string;
  /** Opens a page in a new tab with empty storage, and waits until it is loaded. */
  open(url: string): Promise<Tab>;
  close(): Promise<void>;
}

/** A tab of a browser. */
export interface Tab {
  /**
   * Evaluates an expression in the page, awaits its value, and returns that through JSON. Throws
   * what the expression throws.
   */
  evaluate(expression: string): Promise<unknown>;
  /** Opens a page in another tab, which shares this one's storage and closes with it. */
  another(url: string): Promise<Tab>;
  /** Goes to an address as if a visitor had typed it. */
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  back(): Promise<void>;
  forward(): Promise<void>;
  /** Clicks the first element that a CSS selector matches, which must be visible. */
  click(selector: string): Promise<void>;
  /** Presses a key in the focused element. */
  press(key: Key): Promise<void>;
  /** Resizes the viewport, in CSS pixels. */
  resize(width: number, height: number): Promise<void>;
  /** Returns the visible part of the page as a PNG. WebKit must composite. */
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
}

/** The keys that specs press. */
export type Key = "Tab" | "Enter" | "Space" | "Escape" | "ArrowLeft" | "ArrowRight" | "0" | "1";

/** Options for starting a browser. */
export interface StartOptions {
  /** Further arguments for the browser's program. */
  args?: string[];
  /** Whether WebKit composites with OpenGL. Screenshots need it, and without a graphics processor it takes long. */
  composites?: boolean;
}
