/** Light or dark colours: the system's, or the visitor's choice for this page. */
import { find } from "./page.js";

/** The choices, in the button's order. */
const CHOICES = ["system", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];

const WORDS: Record<Choice, string> = {
  system: "Colours: same as the system",
  light: "Colours: light",
  dark: "Colours: dark",
};

const KEY = "randomx-theme";

/** Restores the last choice, and makes the header's button change it. */
export function startTheme(): void {
  const button = find(document, "#theme", HTMLButtonElement);
  let choice = read();
  show();
  button.hidden = false;
  button.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length] ?? "system";
    write(choice);
    show();
  });

  function show(): void {
    if (choice === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    button.dataset.choice = choice;
    button.ariaLabel = WORDS[choice];
    button.title = WORDS[choice];
  }
}

/** Reads the stored choice. A browser without storage for this page throws. */
function read(): Choice {
  try {
    const kept = localStorage.getItem(KEY);
    return CHOICES.find((each) => each === kept) ?? "system";
  } catch {
    return "system";
  }
}

function write(choice: Choice): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // The choice lasts until the page closes.
  }
}
