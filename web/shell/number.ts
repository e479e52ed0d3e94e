/** Fields for small whole numbers. */
import { find } from "./page.js";

/** Parses a whole number from 1 to `most`; returns nothing for anything else. */
export function count(text: string | null, most: number): number | undefined {
  const value = /^\d{1,3}$/u.test(text ?? "") ? Number(text) : 0;
  return value >= 1 && value <= most ? value : undefined;
}

/** Reads the number in a field. If it is invalid, shows an error in `#id-error` and returns nothing. */
export function readCount(input: HTMLInputElement): number | undefined {
  const most = Number(input.max);
  const value = count(input.value, most);
  const words = value === undefined ? `Expected a whole number from 1 to ${most}.` : "";
  input.ariaInvalid = String(value === undefined);
  find(document, `#${input.id}-error`, HTMLElement).textContent = words;
  return value;
}

/** Focuses the first field below an element that is marked as invalid. */
export function focusInvalid(root: HTMLElement): void {
  root.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}

/**
 * Limits a number of threads to what the server allows. It may come from a link made on another machine,
 * or from a browser that reports more processors than there are, as WebKit does.
 */
export function limitCount(input: HTMLInputElement, most: number): void {
  input.max = String(Math.min(Number(input.max), most));
  if (Number(input.value) > Number(input.max)) input.value = input.max;
}
