/** What went wrong, in words, with a way to try again. */
import { make } from "./page.js";

/** A sentence that is announced, and a button where there is something to try. */
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
