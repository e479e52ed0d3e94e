/** Work that is left, restarted, or done twice at once; and servers that are set up wrongly. */
import { setTimeout as pause } from "node:timers/promises";
import { headers as served } from "../../../vite.config.js";
import { expect, test, visit } from "../browsers/page.js";
import { serveWith } from "../variants.js";

const valid = '#report[data-state="valid"]';
const filling = '#report[data-state="filling"]';

/** Longer than a fill takes on a busy machine, in milliseconds. */
const FILL = 10_000;

test(
  "the page starts again when it is reloaded during work",
  { tag: "@full" },
  async ({ view }) => {
    await view.go("");
    await view.until(filling);
    await view.tab.reload();
    await view.until(valid);
  },
);

test("a view that is left during work aborts it", { tag: "@full" }, async ({ view }) => {
  await view.leave();
  // From inside the page: a fill may end before this test sees it.
  await view.of(
    "html",
    `new Promise((resolve) => {
      const leave = () => {
        if (document.querySelector(${JSON.stringify(filling)})) resolve((location.hash = "#/nothing"));
        else setTimeout(leave, 5);
      };
      location.hash = "#/verify";
      leave();
    })`,
  );
  await view.until('[role="alert"]');
  // Work that went on would end meanwhile, and leave its cache in memory.
  await pause(FILL);
  await view.go("#/verify");
  await view.says("#report .task", /filled in/u);
  await view.until(valid);
});

test("two tabs verify at once", { tag: "@full" }, async ({ view }) => {
  await view.go("");
  const other = await view.another("#/verify?block=3727301");
  await other.until(valid);
  await other.says("#report-title", "Block 3,727,301");
  await view.until(valid);
  await view.says("#report-title", "Block 3,455,947");
});

test("the page works without isolation", { tag: "@chromium" }, async ({ started }) => {
  const none = { "Cross-Origin-Opener-Policy": "", "Cross-Origin-Embedder-Policy": "" };
  await serveWith({ headers: none }, async (address) => {
    const view = await visit(started, "", address);
    expect(await view.of("html", "crossOriginIsolated")).toBe(false);
    await view.until(valid);
    // Where threads are chosen, the page says what its host lacks.
    for (const name of ["compare", "bench"]) {
      await view.tab.goto(`${address}#/${name}`);
      await view.until(`.view[data-view="${name}"] [data-part="isolation"]:not([hidden])`);
      const note = await view.of<string>('[data-part="isolation"]', "it.textContent");
      expect(note, name).toContain("Cross-Origin-Opener-Policy: same-origin");
      expect(note, name).toContain("Cross-Origin-Embedder-Policy: require-corp");
    }
    await view.tab.close();
  });
});

test(
  "a policy without wasm-unsafe-eval: wasm-blocked",
  { tag: "@chromium" },
  async ({ started }) => {
    const policy = served["Content-Security-Policy"];
    const without = policy.replace(" 'wasm-unsafe-eval'", "");
    expect(without).not.toBe(policy);
    await serveWith({ headers: { "Content-Security-Policy": without } }, async (address) => {
      const view = await visit(started, "", address);
      await view.until('#report[data-state="failed"]');
      await view.says(
        "#report .verdict",
        /This site does not let .* \(wasm-blocked: .*'wasm-unsafe-eval'/u,
      );
      await view.tab.close();
    });
  },
);

test("the page works after its server is gone", { tag: "@full" }, async ({ started }) => {
  const [view, bench] = await serveWith({}, async (address) => {
    const view = await visit(started, "", address);
    await view.until(valid);
    // WebKit's driver has one session, so this is another tab of it.
    const bench = await view.another("#/bench?threads=1");
    await bench.until(".bench-form [type=submit]");
    return [view, bench];
  });
  // A benchmark needs the server, and reports that it does not answer.
  await bench.click(".bench-form [type=submit]");
  await bench.says('[data-part="task"] .problem', /The server of this page does not answer\./u);
  // Another attempt reads the settings again.
  await bench.fill("#bench-seconds", "1000");
  await bench.click('[data-part="task"] .problem button');
  await bench.until('#bench-seconds[aria-invalid="true"]');
  await view.click("#again");
  await view.says("#report .task", /already in memory/u);
  await view.until(valid);
  await view.tab.close();
});
