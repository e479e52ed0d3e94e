/** Sizes that several modules share. It imports nothing, so that the module without workers stays small. */

/** The bytes of a hash, and of a seed hash. */
export const HASH_SIZE = 32;

/** The most inputs that a VM hashes together. */
export const MAX_LANES = 8;

/** The most bytes of a light client's stored state. Three days of headers have 250 KB. */
export const MAX_STATE = 16 << 20;

/** Blocks of 1 KiB in one call of a fill that blocks its thread, of 786,432. Nothing reads its progress. */
export const FILL = 1 << 16;
