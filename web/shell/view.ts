/** The interface of the page's views. */

/** The views' names, as in addresses. */
export type ViewName = "verify" | "follow" | "compare" | "bench" | "explore";

/** A view. Its HTML has one `<h1 tabindex="-1">`, which gets the focus. */
export interface View {
  name: ViewName;
  /** The tab's title while the view is open. */
  title: string;
  /** Fills an empty element in the page, and starts the view's automatic work. */
  mount(root: HTMLElement, query: URLSearchParams): Mounted;
}

/** An open view. */
export interface Mounted {
  /** Applies a new address. Without this method, the view is mounted again. */
  update?(query: URLSearchParams): void;
  /** Aborts the view's work, and frees its memory. The shell empties the element. */
  unmount(): void;
}
