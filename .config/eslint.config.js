// ESLint runs from the repository's root with this file as its configuration.
import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import globals from "globals";
import tseslint from "typescript-eslint";

export default defineConfig(
  globalIgnores([
    "target/",
    "**/pkg/",
    "**/dist/",
    "tests/e2e/results/",
    // Compiled where the package is installed, and not here.
    "tests/packaging/projects/types/",
  ]),
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: new URL("..", import.meta.url).pathname,
      },
    },
    rules: {
      // Numbers in templates print as one expects.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
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
