/** Copying to the clipboard. */
import { make } from "./page.js";

/** How long the button shows the outcome, in milliseconds. */
const SHOWN_MS = 1600;

/**
 * Makes a button that copies a text. Screen readers read `what` after its label, as in “Copy the id”.
 * Who speaks a label finds the button by it.
 */
export function copyButton(what: string, text: () => string, label = "Copy"): HTMLButtonElement {
  const button = make("button");
  button.type = "button";
  button.className = "quiet copy";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (words: string): void => {
    button.textContent = words;
    // Screen readers read the name instead of the text.
    button.ariaLabel = `${words} ${what}`.trim();
  };
  show(label);
  button.addEventListener("click", () => {
    clearTimeout(timer);
    void copy(text()).then((done) => {
      show(done ? "Copied" : "Not allowed");
      timer = setTimeout(() => {
        show(label);
      }, SHOWN_MS);
    });
  });
  return button;
}

/** Copies a text, and returns whether the browser allowed it. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Copies where the clipboard is not available: insecure pages and WebDriver. */
function copyBySelection(text: string): boolean {
  const area = make("textarea", text);
  area.className = "off-screen";
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way there
  const done = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
