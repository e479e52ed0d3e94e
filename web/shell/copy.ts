/** Copying to the clipboard. */
import { isDisabled, make } from "./page.js";

/** How long the button shows the outcome, in milliseconds. */
const SHOWN_MS = 1600;

/** Announces the outcome of every button. Screen readers skip changes inside a button. */
let outcome: HTMLElement | undefined;

/**
 * Makes a button that copies a text. Screen readers read `what` after its label, as in “Copy the id”.
 * Voice control finds the button by its label.
 */
export function copyButton(what: string, text: () => string, label = "Copy"): HTMLButtonElement {
  const button = make("button");
  button.type = "button";
  button.className = "quiet copy";
  const announced = (outcome ??= makeOutcome());
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (words: string): void => {
    button.textContent = words;
    // Screen readers read the name instead of the text.
    button.ariaLabel = `${words} ${what}`.trim();
  };
  show(label);
  button.addEventListener("click", () => {
    if (isDisabled(button)) return;
    clearTimeout(timer);
    void copy(text()).then((done) => {
      const words = done ? "Copied" : "Not allowed";
      show(words);
      announced.textContent = words;
      timer = setTimeout(() => {
        show(label);
        announced.textContent = "";
      }, SHOWN_MS);
    });
  });
  return button;
}

function makeOutcome(): HTMLElement {
  const element = make("p");
  element.className = "off-screen";
  element.role = "status";
  document.body.append(element);
  return element;
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
