/** Error messages with a way to try again. */
import { make } from "./page.js";

/** Makes an announced error message, with a button if it is possible to try again. */
export function problem(words: string, again?: () => void): HTMLElement {
  const box = make("div", make("p", words));
  box.className = "problem";
  box.role = "alert";
  if (again) {
    const retry = make("button", "Try again");
    retry.addEventListener("click", again);
    box.append(retry);
  }
  return box;
}
