/** What a view of the page is: one of the things that the page is for. */

/** The views' names, as they stand in addresses. */
export type ViewName = "verify" | "compare" | "bench" | "explore";

/** A view. Its HTML has one `<h1 tabindex="-1">`, which the keyboard is moved to. */
export interface View {
  name: ViewName;
  /** What the tab is called while the view is open. */
  title: string;
  /** Fills an empty element that is in the page, and starts what is to go by itself. */
  mount(root: HTMLElement, query: URLSearchParams): Mounted;
}

/** A view that is open. */
export interface Mounted {
  /** Takes what a new address asks for. Without this, the view is mounted anew. */
  update?(query: URLSearchParams): void;
  /** Aborts what the view has started, and frees it. The element is emptied afterwards. */
  unmount(): void;
}
