/** Copying to the clipboard. */
import { make } from "./page.js";

/** How long the button tells that it has copied. */
const TOLD_MS = 1600;

/** A button that copies what there is when it is pressed; `what` names it, as in “Copy the id”. */
export function copyButton(what: string, text: () => string, label = "Copy"): HTMLButtonElement {
  const button = make("button", label);
  button.type = "button";
  button.className = "quiet copy";
  button.ariaLabel = `Copy ${what}`;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = (words: string): void => {
    button.textContent = words;
    // The name is what is read out, and has to tell the same.
    button.ariaLabel = words === label ? `Copy ${what}` : `${words}: ${what}`;
  };
  button.addEventListener("click", () => {
    clearTimeout(timer);
    void copy(text()).then((done) => {
      tell(done ? "Copied" : "Not allowed");
      timer = setTimeout(() => {
        tell(label);
      }, TOLD_MS);
    });
  });
  return button;
}

/** Copies a text, and tells whether the browser let it. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Where the clipboard is kept from pages that are not served securely, and in WebDriver. */
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
