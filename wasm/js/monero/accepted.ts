/** Apart from the rules, so that the caller's thread does not load those of the workers. */

/** Returns whether later blocks can follow a block with this verdict. */
export function isAccepted({ status }: { status: string }): boolean {
  return status === "valid" || status === "unproven";
}
