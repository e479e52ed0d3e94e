/** Finds and makes elements of the page. */

/** Returns the first match of a selector. Throws unless it is of the given class. */
export function find<E extends Element>(
  within: ParentNode,
  selector: string,
  kind: abstract new () => E,
): E {
  const element = within.querySelector(selector);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${kind.name} ${selector}`);
}

/** Makes an element with text or children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...content: (string | Node)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  element.append(...content);
  return element;
}

/** Makes an entry of a `dl`: a name and its value. */
export function fact(name: string, ...value: (string | Node)[]): HTMLElement {
  return make("div", make("dt", name), make("dd", ...value));
}

/** Makes a table's head. From the column `numbers` on, the titles stand above numbers. */
export function tableHead(titles: readonly string[], numbers = titles.length): HTMLElement {
  const cells = titles.map((title, index) => {
    const cell = make("th", title);
    cell.scope = "col";
    if (index >= numbers) cell.className = "number";
    return cell;
  });
  return make("thead", make("tr", ...cells));
}

/** Makes a cell that names its row. */
export function rowName(...content: (string | Node)[]): HTMLElement {
  const cell = make("th", ...content);
  cell.scope = "row";
  return cell;
}

/** Makes a cell with a number. */
export function numberCell(text: string): HTMLElement {
  const cell = make("td", text);
  cell.className = "number";
  return cell;
}

/** Replaces an element's children. If one of them had the focus, the new child's button gets it. */
export function swap(root: HTMLElement, child: HTMLElement): void {
  const hadFocus = root.contains(document.activeElement);
  root.replaceChildren(child);
  if (hadFocus) child.querySelector("button")?.focus();
}

/** Disables a button, or enables it. Unlike `disabled`, this leaves the focus on it. */
export function setDisabled(button: HTMLButtonElement, isDisabled: boolean): void {
  button.ariaDisabled = isDisabled ? "true" : null;
}

/** Returns whether a button was disabled by `setDisabled`. */
export function isDisabled(button: HTMLButtonElement): boolean {
  return button.ariaDisabled === "true";
}

/** Parses a view's own HTML file (`import html from "./view.html?raw"`). Never pass text from outside. */
export function fragment(html: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/** Waits until the page has painted and handled input, between slices of long work. */
export function nextFrame(): Promise<void> {
  // A tab in the background does not paint, but its work goes on.
  return new Promise((resolve) => {
    const end = (): void => {
      document.removeEventListener("visibilitychange", end);
      setTimeout(resolve);
    };
    document.addEventListener("visibilitychange", end);
    if (document.hidden) end();
    else requestAnimationFrame(end);
  });
}

/** Appends children in slices between frames, so that the page stays responsive. */
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
