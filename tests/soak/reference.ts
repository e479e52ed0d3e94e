/**
 * The hashes that all subjects must agree with. For v1 they come from another implementation, Debian's
 * librandomx, where it is installed. It has no v2, so those come from this project's interpreter.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cliSubject } from "./cli.js";
import { lineProgram } from "./lines.js";
import type { Batch } from "./subject.js";

/** The header of librandomx, which `cargo xtask test --full` installs on Debian. */
const HEADER = "/usr/include/randomx.h";

/** Computes expected hashes. */
export interface Reference {
  /** The implementation of v1. */
  readonly name: string;
  hash: (batch: Batch) => Promise<readonly string[]>;
  close: () => Promise<void>;
}

/** Starts the programs that compute expected hashes. */
export function reference(): Reference {
  const interpreter = cliSubject("interpreter", "--engine", "interpreter");
  if (!existsSync(HEADER)) return interpreter;

  const folder = mkdtempSync(join(tmpdir(), "randomx-soak-"));
  const program = join(folder, "reference");
  const source = fileURLToPath(new URL("reference.c", import.meta.url));
  execFileSync("cc", ["-O2", source, "-o", program, "-lrandomx"], { stdio: "inherit" });
  const other = lineProgram(program, []);
  return {
    name: "librandomx",
    hash: (batch) =>
      batch.version === 2
        ? interpreter.hash(batch)
        : other.ask(batch.inputs.map((input) => `${batch.key} ${input}`)),
    close: async () => {
      await Promise.all([interpreter.close(), other.close()]);
      rmSync(folder, { recursive: true });
    },
  };
}
