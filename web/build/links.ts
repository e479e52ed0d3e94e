/** The addresses in the page's HTML that depend on the project and on the place of the page. */
import type { Plugin } from "vite";
import project from "../../package.json" with { type: "json" };

/** Links to the source, if the project has a public address; removes the link if it has none. */
export function links(): Plugin {
  const { repository } = project as { repository?: string | { url: string } };
  const source = (typeof repository === "object" ? repository.url : (repository ?? ""))
    .replace(/^git\+/u, "")
    .replace(/\.git$/u, "");
  const link = /\s*<a href="#source">[^<]*<\/a>/u;
  return {
    name: "links",
    transformIndexHtml: (html) =>
      source === "" ? html.replace(link, "") : html.replace("#source", source),
  };
}

/** Makes the preview's address absolute, since programs that show previews load no other. */
export function preview(page: string): Plugin {
  const image = /(?<=property="og:image" content=")[^"]+/u;
  return {
    name: "preview",
    transformIndexHtml: {
      order: "post",
      handler: (html) => ({
        html: html.replace(image, (relative) => new URL(relative, page).href),
        tags: [{ tag: "meta", attrs: { property: "og:url", content: page }, injectTo: "head" }],
      }),
    },
  };
}
