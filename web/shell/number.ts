/** Fields for small whole numbers. */
import { find } from "./page.js";

/** A whole number from 1 to `most`, or nothing. */
export function count(text: string | null, most: number): number | undefined {
  const value = /^\d{1,3}$/u.test(text ?? "") ? Number(text) : 0;
  return value >= 1 && value <= most ? value : undefined;
}

/** The number in a field, or nothing; then the element `#id-error` says what is expected. */
export function readCount(input: HTMLInputElement): number | undefined {
  const most = Number(input.max);
  const value = count(input.value, most);
  const words = value === undefined ? `Expected a whole number from 1 to ${most}.` : "";
  input.ariaInvalid = String(value === undefined);
  find(document, `#${input.id}-error`, HTMLElement).textContent = words;
  return value;
}

/**
 * Lets a field have no more threads than may be asked for. Browsers may tell of more processors than
 * there are (WebKit does), and links of others' machines.
 */
export function limitCount(input: HTMLInputElement, most: number): void {
  input.max = String(Math.min(Number(input.max), most));
  if (Number(input.value) > Number(input.max)) input.value = input.max;
}
