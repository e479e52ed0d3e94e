/**
 * Each view in light and dark, on a desktop and on a phone, compared with the pictures in `../pictures`.
 * They show Debian's browsers and fonts. `../../README.md` says how to renew them.
 */
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test, type Visit } from "../browsers/page.js";
import { chainOf, extended } from "../../node/chain/blocks.js";
import { SimulatedSources } from "../../node/chain/source.js";

/** Debian's browsers depend on this font, and the pictures show it. */
const FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

/** Higher than screens, so that the pictures show most of each view. */
const SIZES = { desktop: [1280, 1600], phone: [360, 1800] } as const;
const THEMES = ["light", "dark"] as const;

/** Part of all pixels that may differ, and by how much the others may: 32 colours are kept. */
const TOLERANCE = { maxDiffPixelRatio: 0.01, threshold: 0.2 };

/** Selectors of parts that depend on the time, the machine, or the ports of this run. */
const VARYING = [
  ...[".task .percent", ".task .left", '[data-place="hash-time"]', '[data-part="native"]'],
  ...['[data-part="totals"] td:nth-of-type(5)', '[data-part="origin"]', "textarea"],
  ...['[data-view="follow"] .verdict', '[data-part="tip"] dd', '[data-part="sources"] code'],
  ...['[data-part="sources"] .badge', '[data-part="forks"] figcaption'],
  ...['[data-part="warnings"] p', '[data-part="recent"]'],
];

/** The longest that a view may take, in milliseconds. */
const STEP = 90_000;

const sources = new SimulatedSources();

test.use({ composites: true });

test.afterEach(() => sources.stop());

/** Replaces what varies, fills what shows progress, and hides the scroll bar that takes a part of the width. */
async function settle(view: Visit): Promise<void> {
  await view.of(
    "main",
    `{
      for (const each of it.querySelectorAll(${JSON.stringify(VARYING.join(","))})) {
        if (each.localName === "textarea") each.value = "";
        else each.textContent = "…";
      }
      for (const each of it.querySelectorAll("progress")) each.value = 1;
      document.documentElement.style.scrollbarWidth = "none";
      document.activeElement?.blur();
    }`,
  );
}

/** The pause between two looks, and the most looks. */
const LOOKS = { step: 150, most: 40 };

/** Returns a picture of what stays. WebKit shows a change some frames after it was made. */
async function steady(view: Visit): Promise<Buffer> {
  const frame =
    "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";
  await view.tab.evaluate(frame);
  let last = await view.tab.screenshot();
  for (let look = 1; look < LOOKS.most; look += 1) {
    await pause(LOOKS.step);
    const next = await view.tab.screenshot();
    if (next.equals(last)) return next;
    last = next;
  }
  return last;
}

/** Opens each view, and waits until it is complete. */
const VIEWS: Record<string, (view: Visit) => Promise<void>> = {
  verify: async (view) => {
    await view.go("#/verify?block=3455887");
    await view.until('#report[data-state="valid"]', STEP);
    await view.until(".epoch");
  },
  follow: async (view) => {
    const common = chainOf(10);
    const [node, relay] = [await sources.start(extended(common, 5)), await sources.start(common)];
    await view.go(
      `#/follow?${new URLSearchParams({ network: "regtest", node: node.url, relay: relay.url }).toString()}`,
    );
    await view.click(".follow-form [type=submit]");
    await view.says('[data-part="chain"] .verdict', /newest block: block 15\.$/u, STEP);
    relay.chain = extended(common, 3, { nonce: 1 });
    await view.until('[data-kind="disagreement"]', STEP);
    await view.click('[data-part="stop"]');
  },
  compare: async (view) => {
    await view.go("#/compare?builds=browser-jit&vectors=headers&threads=1&lanes=8&times=no");
    await view.says('[data-part="native"]', /./u);
    await view.click(".compare-form [type=submit]");
    await view.says('[data-part="verdict"]', /^All 8 hashes are right/u, STEP);
  },
  bench: async (view) => {
    await view.go("#/bench?threads=1");
    await view.until('[data-part="measure-native"]:not([aria-disabled])');
  },
  explore: async (view) => {
    await view.go("#/explore?hashes=256");
    await view.until('[data-part="registers"] svg', STEP);
    await view.says('[data-part="status"]', /^The hash is/u, STEP);
    // The pictures end above the distributions, which contain times.
    await view.click('[data-part="progress"] button');
    await view.says('[data-part="status"]', /^Cancelled/u);
  },
};

for (const [name, open] of Object.entries(VIEWS)) {
  test(`${name} looks like its pictures`, { tag: "@full" }, async ({ view }) => {
    test.skip(!existsSync(FONT), `${FONT} is missing`);
    test.setTimeout(2 * STEP);
    await open(view);
    for (const [size, [width, height]] of Object.entries(SIZES)) {
      await view.tab.resize(width, height);
      for (const theme of THEMES) {
        await view.of("html", `{ it.dataset.theme = "${theme}"; scrollTo(0, 0); }`);
        await settle(view);
        expect.soft(await steady(view)).toMatchSnapshot(`${name}-${size}-${theme}.png`, TOLERANCE);
      }
    }
  });
}
