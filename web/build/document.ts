/** The page's documentation: the package's README as HTML. */
import { readFileSync } from "node:fs";
import { Marked } from "marked";
import type { Plugin } from "vite";

/** Returns the anchor of a heading, as GitHub makes it. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/<[^>]*>|[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

const marked = new Marked({
  renderer: {
    heading: (text, level) => `<h${level} id="${anchor(text)}">${text}</h${level}>\n`,
    // Keyboards can scroll what is wider than the page.
    code: (code) => `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`,
    // Files of the repository are not part of the page.
    link: (href, _title, text) =>
      /^(?:https?:|#)/u.test(href) ? `<a href="${href}">${text}</a>` : text,
  },
});

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Writes the README into `documentation.html`. */
export function documentation(readme: URL): Plugin {
  return {
    name: "documentation",
    transformIndexHtml: {
      order: "pre",
      handler: (html) =>
        html.replace("%DOCUMENT%", () => marked.parse(readFileSync(readme, "utf8")) as string),
    },
  };
}
