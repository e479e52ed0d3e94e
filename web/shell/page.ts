/** Finding and making the elements of the page. */

/** The element that a selector means, of the given class; the page is built to have it. */
export function find<E extends Element>(
  within: ParentNode,
  selector: string,
  kind: abstract new () => E,
): E {
  const element = within.querySelector(selector);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${kind.name} ${selector}`);
}

/** A new element with text or children in it. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...content: (string | Node)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  element.append(...content);
  return element;
}

/** The elements of a view's own HTML file (`import html from "./view.html?raw"`), never of text. */
export function fragment(html: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/** Waits until the page has painted and answered to its visitor: between slices of long work. */
export function nextFrame(): Promise<void> {
  // A tab in the background paints nothing, and its work has to go on all the same.
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(resolve);
    else requestAnimationFrame(() => setTimeout(resolve));
  });
}

/** Children that are made between frames, so many at a time that nobody has to wait for them. */
export async function appendSlowly(
  parent: HTMLElement,
  children: Iterable<() => HTMLElement>,
  slice = 64,
): Promise<void> {
  let made = 0;
  for (const child of children) {
    parent.append(child());
    made += 1;
    if (made % slice === 0) await nextFrame();
  }
}
