/** What the engine's specs and benchmarks ask of a browser, whichever protocol it speaks. */

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
  close(): Promise<void>;
}

/** How browsers are started; every field has a default. */
export interface StartOptions {
  /** Arguments for the browser's program, beside those that every start needs. */
  args?: string[];
}
