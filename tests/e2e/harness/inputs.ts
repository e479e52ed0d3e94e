/** Inputs of the benchmarks. */

/**
 * Returns a function that makes inputs and never repeats one, within a round or in another:
 * engines keep the code of modules that they have compiled before.
 */
export function freshInputs(round: number): (count: number) => Uint8Array[] {
  let made = 0;
  return (count) =>
    Array.from({ length: count }, () => {
      const input = Uint8Array.of(round, made & 255, made >> 8);
      made += 1;
      return input;
    });
}
