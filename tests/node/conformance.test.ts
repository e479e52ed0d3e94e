/** The suites of crates/conformance, compiled to WebAssembly, on the shared vectors. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as conformance from "../../crates/conformance/pkg/randomx_conformance.js";
import { isFull, readText } from "./support.js";

const pkg = new URL("../../crates/conformance/pkg/", import.meta.url);
conformance.initSync({
  module: readFileSync(new URL("randomx_conformance_bg.wasm", pkg)),
});
const suites = conformance.suites();

test("the list of suites is not empty", () => {
  expect(suites).not.toHaveLength(0);
});

/** Suites that take long in one interpreted lane. In quick tests only the package runs them: see vectors.test.ts. */
const SLOW = ["specification-hashes", "reference-hashes", "mainnet-blocks", "mainnet-shares"];

test("the slow suites exist", () => {
  expect(suites).toEqual(expect.arrayContaining(SLOW));
});

const isRun = (suite: string) => isFull || !SLOW.includes(suite);

test.each(suites.filter(isRun))("%s", (suite) => {
  const report = JSON.parse(conformance.run(suite, readText(`tests/vectors/${suite}.json`))) as {
    checked: number;
    failures: string[];
  };
  expect(report.failures).toEqual([]);
  expect(report.checked).toBeGreaterThan(0);
});
