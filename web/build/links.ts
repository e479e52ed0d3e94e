/** The addresses in the page's HTML that depend on the project and on the place of the page. */
import type { HtmlTagDescriptor, Plugin } from "vite";
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

/** The elements of a page that are right only with its public address. */
const ADDRESSED =
  /\s*<meta\s+property="og:image(?::alt)?"[^>]*>|\s*<meta\s+name="twitter:card"[^>]*>/gu;

/** The address of the preview picture. */
const IMAGE = /(?<=property="og:image"\s+content=")[^"]+/u;

/**
 * Writes the page's public address, and the absolute address of its preview picture: programs that show
 * previews of links load no other. Without an address, leaves the picture out.
 */
export function preview(given: string | undefined): Plugin {
  const page = given ? publicAddress(given) : undefined;
  let say: ((words: string) => void) | undefined;
  return {
    name: "preview",
    configResolved: ({ logger, mode }) => {
      if (page || mode !== "hosted") return;
      say = (words) => {
        logger.info(words);
      };
    },
    closeBundle: () => {
      say?.(
        "links to this page will show no picture, because its address must be absolute: " +
          "npm run build:page -- --url https://example.org/randomx/",
      );
    },
    transformIndexHtml: {
      order: "pre",
      handler: (html, { path }) => {
        if (!page) return html.replace(ADDRESSED, "");
        const href = new URL(path.replace(/^\/(?:index\.html$)?/u, ""), page).href;
        const tags: HtmlTagDescriptor[] = [
          { tag: "link", attrs: { rel: "canonical", href }, injectTo: "head" },
        ];
        if (IMAGE.test(html)) {
          tags.push({
            tag: "meta",
            attrs: { property: "og:url", content: href },
            injectTo: "head",
          });
        }
        return { html, tags };
      },
    },
    // Only now the picture has its name.
    generateBundle: {
      order: "post",
      handler: (_options, bundle) => {
        for (const file of Object.values(bundle)) {
          if (!page || file.type !== "asset" || !file.fileName.endsWith(".html")) continue;
          const own = new URL(file.fileName, page);
          file.source = String(file.source).replace(
            IMAGE,
            (relative) => new URL(relative, own).href,
          );
        }
      },
    },
  };
}

/** Returns the address of the folder that will have the page. */
function publicAddress(given: string): string {
  const expected = `PAGE_URL: expected an address such as https://example.org/randomx/, got ${given}`;
  if (!URL.canParse(given)) throw new Error(expected);
  const url = new URL(given);
  if (!/^https?:$/u.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new Error(expected);
  }
  // Relative addresses begin at the last slash.
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url.href;
}
