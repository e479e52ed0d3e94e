/** Shortens the HTML of views, which is embedded in the page's JavaScript. */
import type { Plugin } from "vite";

/** Ends the name of a view's HTML, as its module imports it. */
const VIEW = "/view.html?raw";

/** Puts a space in place of each line break and the indentation after it. No view has preformatted text. */
export const shortViews: Plugin = {
  name: "short-views",
  enforce: "pre",
  apply: "build",
  transform: (code, id) => (id.endsWith(VIEW) ? code.replace(/\\n\s*/gu, " ") : undefined),
};
