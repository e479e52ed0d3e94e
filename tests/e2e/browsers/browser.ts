/** What specs and benchmarks ask of a browser, whichever protocol it speaks. */

/** The browsers that are tested. */
export type BrowserName = "chromium" | "firefox" | "webkit";

/** A browser that runs. */
export interface Browser {
  readonly name: BrowserName;
  readonly version: string;
  /** Opens a page in a tab that shares nothing with those before it, and waits until it is loaded. */
  open(url: string): Promise<Tab>;
  close(): Promise<void>;
}

/** A page in it. */
export interface Tab {
  /**
   * The value of an expression in the page, as JSON can hold it; a promise is waited for. What is
   * thrown there is thrown here.
   */
  evaluate(expression: string): Promise<unknown>;
  /** Opens a page in another tab, which shares the storage with this one and is closed with it. */
  another(url: string): Promise<Tab>;
  /** Goes to an address as if it had been typed. */
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  back(): Promise<void>;
  forward(): Promise<void>;
  /** Clicks with the mouse on the one element that a CSS selector means, which must be in sight. */
  click(selector: string): Promise<void>;
  /** Presses a key: whatever has the keyboard gets it. */
  press(key: Key): Promise<void>;
  /** Gives the window this size, in CSS pixels. */
  resize(width: number, height: number): Promise<void>;
  /** What is seen, as a PNG. */
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
}

/** The keys that specs press. */
export type Key = "Tab" | "Enter" | "Space" | "Escape" | "ArrowLeft" | "ArrowRight";

/** How browsers are started; every field has a default. */
export interface StartOptions {
  /** Arguments for the browser's program, beside those that every start needs. */
  args?: string[];
}
