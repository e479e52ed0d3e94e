/** Fresh projects outside the repository, in which only the package is installed. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, inject, onTestFinished, test } from "vitest";
import { npm } from "../programs.js";

const root = new URL("../../", import.meta.url);

/** Defines a test of the full tier; `cargo xtask test --full` sets the variable. */
export const fullTest = test.runIf(process.env.RANDOMX_TESTS === "full");

/** The output of a project's program. */
export interface Verification {
  valid: boolean;
  hash: string;
  threads: number;
}

/** A mainnet block with the values that a verification needs. */
interface RealBlock {
  seedHash: string;
  block: string;
  hashingBlob: string;
  /** A lower bound. */
  difficulty: string;
  expectedId: string;
  height: number;
  /** The proof-of-work hash. */
  hash: string;
}

/** The block that each project verifies. */
export const block = firstBlock();

/** Folders of projects with installed packages, by the project's name and the other packages. */
const installed = new Map<string, string>();

afterAll(() => {
  for (const folder of installed.values()) rmSync(folder, { recursive: true });
});

/** Returns a copy of one of `projects` with this package and others installed. It lasts until the test ends. */
export function freshProject(name: string, ...others: string[]): string {
  const which = [name, ...others].join(" ");
  // npm takes seconds, a copy does not.
  const original = installed.get(which) ?? install(name, others);
  installed.set(which, original);
  const folder = temporary(name);
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  cpSync(original, folder, { recursive: true });
  return folder;
}

function install(name: string, others: string[]): string {
  const folder = temporary(name);
  cpSync(fileURLToPath(new URL(`projects/${name}`, import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  writeFileSync(join(folder, "block.js"), `export const block = ${JSON.stringify(block)};\n`);
  npm(["install", "--offline", "--silent", "--no-audit", inject("tarball"), ...others], folder);
  return folder;
}

function temporary(name: string): string {
  return mkdtempSync(join(tmpdir(), `randomx-web-${name}-`));
}

/** Returns the path of a file of the repository. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(path, root));
}

function firstBlock(): RealBlock {
  const text = readFileSync(new URL("tests/vectors/mainnet-blocks.json", root), "utf8");
  const { blocks } = JSON.parse(text) as { blocks: [Record<string, string> & { height: number }] };
  const [{ seed_hash, block_blob, hashing_blob, id, height, pow_hash }] = blocks;
  return {
    seedHash: seed_hash ?? "",
    block: block_blob ?? "",
    hashingBlob: hashing_blob ?? "",
    difficulty: "704249165145",
    expectedId: id ?? "",
    height,
    hash: pow_hash ?? "",
  };
}
