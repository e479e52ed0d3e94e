/**
 * The build of the page for any static host: `npm run build:page`. It has the headers as files for
 * common hosts, and a service worker for hosts that send none.
 */
import type { UserConfig } from "vite";
import product, { output, path } from "../../vite.config.js";
import { headerFiles, policyElement } from "./headers.js";
import { SERVICE_WORKER, serviceWorker } from "./service_worker.js";

const { plugins, build, ...config } = product;

export default {
  ...config,
  mode: "hosted",
  plugins: [...(plugins ?? []), policyElement, headerFiles, serviceWorker],
  build: {
    ...build,
    outDir: "site",
    rolldownOptions: {
      input: {
        index: path("web/index.html"),
        documentation: path("web/documentation.html"),
        [SERVICE_WORKER]: path("web/host/service_worker.ts"),
      },
      output: {
        ...output,
        // A service worker is responsible for the folder of its own file.
        entryFileNames: ({ name }) =>
          name === SERVICE_WORKER ? "[name].js" : "assets/[name]-[hash].js",
      },
    },
  },
} satisfies UserConfig;
