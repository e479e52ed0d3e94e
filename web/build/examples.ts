/** Removes the fields that the view Verify does not use from its examples, such as their RandomX hashes. */
import type { Plugin } from "vite";

/** The file with the examples, where a module imports its content. Other modules import its address. */
const EXAMPLES = "/tests/vectors/mainnet-headers.json";

/** The names of what is kept. */
const USED = ["seed_hash", "blocks", "height", "hashing_blob", "difficulty", "id"];

export const smallExamples: Plugin = {
  name: "small-examples",
  enforce: "pre",
  apply: "build",
  transform: (code, id) =>
    id.endsWith(EXAMPLES) ? JSON.stringify(JSON.parse(code), USED) : undefined,
};
