/** Long work as it is seen: how far it is, how long it has taken and may still take, and an end. */
import { make } from "./page.js";
import { duration } from "./words.js";

/** Before this much is known, an estimate would be a guess. */
const ESTIMATE_FROM = { done: 0.05, ms: 400 };

/** How a bar is named, and stopped. */
export interface BarOptions {
  /** What is being done, for who cannot see the bar. */
  label: string;
  /** Called when the visitor wants an end; without it there is no button. */
  onCancel?: () => void;
  /** What is on that button. */
  cancelLabel?: string;
}

/** A bar with words beside it. Put `element` where it is to be seen. */
export class ProgressBar {
  readonly element: HTMLElement;
  readonly #bar: HTMLProgressElement;
  readonly #percent = make("span");
  readonly #words = make("span");
  readonly #cancel: HTMLButtonElement | undefined;
  #start = performance.now();

  constructor({ label, onCancel, cancelLabel = "Cancel" }: BarOptions) {
    this.#bar = make("progress");
    this.#bar.max = 1;
    this.#bar.value = 0;
    this.#bar.ariaLabel = label;
    this.#percent.className = "percent";
    this.#words.className = "left";
    this.element = make("div", this.#bar, this.#percent, this.#words);
    this.element.className = "task";
    if (onCancel) {
      this.#cancel = make("button", cancelLabel);
      this.#cancel.type = "button";
      this.#cancel.addEventListener("click", onCancel);
      this.element.append(this.#cancel);
    }
    this.reset();
  }

  /** The time that has passed since `reset`, in milliseconds. */
  get elapsed(): number {
    return performance.now() - this.#start;
  }

  /** Starts from nothing, with words such as “waiting”. */
  reset(words = ""): void {
    this.#start = performance.now();
    this.#bar.value = 0;
    this.#percent.textContent = "0 %";
    this.#words.textContent = words;
    if (this.#cancel) this.#cancel.disabled = false;
  }

  /** Tells how far it is, 0 to 1, and how long it may still take. */
  set(done: number): void {
    const part = Math.min(1, Math.max(0, done));
    this.#bar.value = part;
    this.#percent.textContent = `${Math.floor(100 * part)} %`;
    this.#words.textContent = estimate(part, this.elapsed);
  }

  /** Tells how it ended. There is nothing left to cancel. */
  end(words: string): void {
    this.#words.textContent = words;
    if (this.#cancel) this.#cancel.disabled = true;
  }
}

/** How long is left, supposing that it goes on as it has gone so far. */
export function estimate(done: number, elapsed: number): string {
  if (done >= 1 || done < ESTIMATE_FROM.done || elapsed < ESTIMATE_FROM.ms) return "";
  const left = (elapsed / done) * (1 - done);
  return left < 1000 ? "under a second left" : `about ${duration(left)} left`;
}
