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
export function make(tag: string, ...content: (string | Node)[]): HTMLElement {
  const element = document.createElement(tag);
  element.append(...content);
  return element;
}
