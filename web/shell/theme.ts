/** Light or dark: as the system has it, or as the visitor wants this page to be. */
import { find } from "./page.js";

/** In the order in which the button goes through them. */
const CHOICES = ["system", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];

const WORDS: Record<Choice, string> = {
  system: "Colours: as the system has them",
  light: "Colours: light",
  dark: "Colours: dark",
};

const KEY = "theme";

/** Brings back what was chosen before, and lets the button in the header change it. */
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

/** A browser that keeps nothing for this page throws, and then nothing was chosen. */
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
    // It lasts as long as the page, then.
  }
}
