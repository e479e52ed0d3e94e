/** The configuration of ESLint, which runs in the repository's root. */
import { dirname } from "node:path";
import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import globals from "globals";
import tseslint from "typescript-eslint";

/**
 * Forbids relative paths to some folders in every string: imports, static or dynamic, and URLs of
 * workers. Imports point one way: web to wasm/js to wasm/pkg, and web to wasm/explore/pkg.
 */
function noPathsTo(folders, message) {
  const selector = `Literal[value=/^(\\.\\.\\/)+(${folders})/]`;
  return { rules: { "no-restricted-syntax": ["error", { selector, message }] } };
}

export default defineConfig(
  globalIgnores([
    "target/",
    "**/pkg/",
    "**/dist/",
    "wasm/dist-*/",
    "tests/e2e/results/",
    "web/site/",
    // Compiles only where the package is installed.
    "tests/packaging/projects/types/",
  ]),
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        // One program for all files. A service would make another one for `wasm/js`.
        project: "tsconfig.json",
        tsconfigRootDir: dirname(import.meta.dirname),
      },
    },
    rules: {
      // Numbers in templates are readable as they are.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    files: ["wasm/js/**"],
    extends: [
      noPathsTo(
        "(web|tests|crates|explore)\\/",
        "wasm/js imports only wasm/js and the wasm builds",
      ),
    ],
  },
  {
    files: ["web/**"],
    extends: [
      noPathsTo(
        "tests\\/(?!vectors\\/)|crates\\/|wasm\\/(?!js\\/|explore\\/pkg\\/)",
        "web imports only web, wasm/js, wasm/explore/pkg and tests/vectors",
      ),
    ],
  },
  {
    files: ["**/*.js", "**/*.mjs"],
    languageOptions: { globals: globals.node },
  },
  {
    files: ["tests/packaging/projects/browser/*.js"],
    languageOptions: { globals: globals.browser },
  },
);
