/** The page's frame: addresses, history, keyboard, colours. */
import { expect, test, type Visit } from "../browsers/page.js";
import { nextFrame } from "../../../web/shell/page.js";

const VIEWS = ["verify", "follow", "compare", "bench", "explore"] as const;

function link(name: string): string {
  return `header nav a[data-view="${name}"]`;
}

async function expectOpen(view: Visit, name: string): Promise<void> {
  await view.until(`.view[data-view="${name}"] h1`);
  await view.until(`${link(name)}[aria-current="page"]`);
  expect(await view.count("header nav [aria-current]")).toBe(1);
  expect(await view.count("main h1")).toBe(1);
  const title = await view.of<string>("title", "it.textContent");
  expect(title.toLowerCase()).toMatch(new RegExp(`^${name} · randomx`, "u"));
}

test("each view has a link, an address and a heading that takes the focus", async ({ view }) => {
  await view.go("");
  await expectOpen(view, "verify");
  for (const name of [...VIEWS.slice(1), "verify"]) {
    await view.click(link(name));
    await expectOpen(view, name);
    await expect.poll(() => view.hasFocus("main h1")).toBe(true);
    expect(await view.of("html", "location.hash")).toBe(`#/${name}`);
  }
});

test("back and forward", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/compare");
  await expectOpen(view, "compare");
  await view.click(link("bench"));
  await expectOpen(view, "bench");
  await view.click(link("verify"));
  await view.until('#report[data-state="valid"]');
  await view.tab.back();
  await expectOpen(view, "bench");
  await view.tab.back();
  await expectOpen(view, "compare");
  await view.tab.forward();
  await view.tab.forward();
  await expectOpen(view, "verify");
  await view.until('#report[data-state="valid"]');
});

test(
  "a view that is being left does not change the next one's address",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/compare");
    await expectOpen(view, "compare");
    await view.of(
      "#compare-threads",
      `{
        location.hash = "#/bench?seconds=7";
        it.value = "1";
        it.dispatchEvent(new Event("change", { bubbles: true }));
      }`,
    );
    await expectOpen(view, "bench");
    expect(await view.of("html", "location.hash")).toBe("#/bench?seconds=7");
    expect(await view.of("#bench-seconds", "it.value")).toBe("7");
  },
);

test("work goes on when the page is hidden between frames", { tag: "@chromium" }, async () => {
  const document = Object.assign(new EventTarget(), { hidden: false });
  Object.assign(globalThis, { document, requestAnimationFrame: () => 0 });
  try {
    const frame = nextFrame();
    document.dispatchEvent(new Event("visibilitychange"));
    await frame;
  } finally {
    for (const name of ["document", "requestAnimationFrame"]) {
      Reflect.deleteProperty(globalThis, name);
    }
  }
});

test("an unknown address is reported", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/nothing?x=1");
  await view.says('[role="alert"]', /no view “nothing”/u);
  await view.click(link("compare"));
  await expectOpen(view, "compare");
});

test("a view that fails to open says why", { tag: "@chromium" }, async ({ view }) => {
  await view.leave();
  await view.of("html", `{ globalThis.setInterval = () => { throw new Error("no timers"); }; }`);
  await view.go("#/follow");
  await view.says('[role="alert"] p', "Unexpected error: Error: no timers");
});

test("colours can be chosen, and the choice is kept", { tag: "@chromium" }, async ({ view }) => {
  const paper = (): Promise<string> => view.of("body", "getComputedStyle(it).backgroundColor");
  await view.go("#/nothing");
  for (const [name, colour] of [
    ["light", "rgb(247, 248, 245)"],
    ["dark", "rgb(16, 20, 18)"],
  ] as const) {
    await view.click("#theme");
    expect(await view.of("#theme", "it.ariaLabel")).toBe(`Colours: ${name}`);
    await expect.poll(paper).toBe(colour);
    await view.tab.reload();
    await view.until(`#theme[data-choice="${name}"]`);
    await expect.poll(paper).toBe(colour);
  }
});

test("screen readers get the outcome of copying", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/compare");
  const outcome = 'body > [role="status"]';
  await view.until(outcome);
  await view.of(
    outcome,
    `{
      globalThis.said = [];
      new MutationObserver(() => said.push(it.textContent)).observe(it, { childList: true });
    }`,
  );
  await view.click(".compare-form .copy");
  await expect.poll(() => view.of("html", "said")).toContainEqual("Copied");
});

test("the report fits a phone", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?block=3455887");
  await view.tab.resize(360, 720);
  await view.until('#report[data-state="valid"]');
  const width = await view.of<number>("html", "innerWidth");
  expect(await view.of("html", "it.scrollWidth")).toBeLessThanOrEqual(width);
});
