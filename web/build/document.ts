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

/** Returns the text in some HTML of the renderer, for an attribute. */
function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
}

let heading = "";

const marked = new Marked({
  renderer: {
    heading: (text, level) => {
      heading = textOf(text);
      return `<h${level} id="${anchor(text)}">${text}</h${level}>\n`;
    },
    // A table that is wider than the page scrolls in its own box. Its name tells it from the others.
    table: (head, body) =>
      `<div class="scroll" tabindex="0" role="region" aria-label="${heading}: ${textOf(head)}">` +
      `<table><thead>${head}</thead><tbody>${body}</tbody></table></div>\n`,
    // A corner without words is no header.
    tablecell: (text, { header }) => (header && text === "" ? "<td></td>" : false),
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
