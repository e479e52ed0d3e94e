/** Fields for small whole numbers. */
import { find } from "./page.js";

/** Parses a whole number from 1 to `most`; returns nothing for anything else. */
export function count(text: string | null, most: number): number | undefined {
  const value = /^\d{1,3}$/u.test(text ?? "") ? Number(text) : 0;
  return value >= 1 && value <= most ? value : undefined;
}

/** Returns the number in a field, or nothing if it is invalid. */
export function readCount(input: HTMLInputElement): number | undefined {
  return count(input.value, Number(input.max));
}

/**
 * Shows an error in `#id-error` if the number in a field is invalid, from now on with each edit. An error that came or
 * went when the field loses the focus would move the button that the visitor is pressing.
 */
export function checkCount(input: HTMLInputElement): void {
  const isValid = readCount(input) !== undefined;
  const words = isValid ? "" : `Expected a whole number from 1 to ${input.max}.`;
  input.ariaInvalid = String(!isValid);
  find(document, `#${input.id}-error`, HTMLElement).textContent = words;
  input.oninput = () => {
    checkCount(input);
  };
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
