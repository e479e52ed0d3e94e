/** The display of long work: progress, times, and a button to cancel. */
import { isDisabled, make, setDisabled } from "./page.js";
import { duration } from "./words.js";

/** Before this, an estimate of the remaining time would be a guess. */
const ESTIMATE_FROM = { done: 0.05, ms: 400 };

/** Options of a progress bar. */
export interface BarOptions {
  /** The name of the work, for screen readers. */
  label: string;
  /** Called when the visitor cancels. Without it there is no button. */
  onCancel?: () => void;
  /** The button's text. */
  cancelLabel?: string;
}

/** A progress bar with words beside it. The caller puts `element` into the page. */
export class ProgressBar {
  readonly element: HTMLElement;
  readonly #bar: HTMLProgressElement;
  readonly #percent = make("span");
  /** The estimated remaining time, or words such as “waiting”. */
  readonly #left = make("span");
  /** How the work ended, for screen readers too. */
  readonly #ending = make("span");
  readonly #cancel: HTMLButtonElement | undefined;
  #start = performance.now();

  constructor({ label, onCancel, cancelLabel = "Cancel" }: BarOptions) {
    this.#bar = make("progress");
    this.#bar.max = 1;
    this.#bar.value = 0;
    this.#bar.ariaLabel = label;
    this.#percent.className = "percent";
    this.#ending.role = "status";
    const words = make("span", this.#left, this.#ending);
    words.className = "left";
    this.element = make("div", this.#bar, this.#percent, words);
    this.element.className = "task";
    if (onCancel) {
      this.#cancel = make("button", cancelLabel);
      this.#cancel.type = "button";
      const button = this.#cancel;
      button.addEventListener("click", () => {
        if (!isDisabled(button)) onCancel();
      });
      this.element.append(this.#cancel);
    }
    this.reset();
  }

  /** The milliseconds since `reset`. */
  get elapsed(): number {
    return performance.now() - this.#start;
  }

  /** Starts again at 0, with words such as “waiting”. */
  reset(words = ""): void {
    this.#start = performance.now();
    this.#bar.value = 0;
    this.#percent.textContent = "0 %";
    this.#left.textContent = words;
    this.#ending.textContent = "";
    if (this.#cancel) setDisabled(this.#cancel, false);
  }

  /** Shows the progress, 0 to 1, and the estimated remaining time. */
  set(done: number): void {
    const part = Math.min(1, Math.max(0, done));
    this.#bar.value = part;
    this.#percent.textContent = `${Math.floor(100 * part)} %`;
    this.#left.textContent = estimate(part, this.elapsed);
  }

  /** Shows and announces how the work ended, and disables the button. */
  end(words: string): void {
    this.#left.textContent = "";
    this.#ending.textContent = words;
    if (this.#cancel) setDisabled(this.#cancel, true);
  }
}

/** Estimates the remaining time, assuming a constant rate. */
function estimate(done: number, elapsed: number): string {
  if (done >= 1 || done < ESTIMATE_FROM.done || elapsed < ESTIMATE_FROM.ms) return "";
  const left = (elapsed / done) * (1 - done);
  return left < 1000 ? "under a second left" : `about ${duration(left)} left`;
}
