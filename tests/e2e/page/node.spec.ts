/** The view Verify with blocks that a node sends. */
import { expect, test, type Visit } from "../browsers/page.js";
import { madeBlock } from "../../node/monero/support.js";
import { block, serveNode } from "./monero-node.js";

async function requestBlocks(view: Visit, url: string, first: string, last = ""): Promise<void> {
  await view.fill("#node-url", url);
  await view.fill("#node-from", first);
  await view.fill("#node-to", last);
  await view.click("#from-node [type=submit]");
}

test("a node's block is verified, check by check", async ({ view }) => {
  await serveNode(block.block_blob, async (url) => {
    await view.go("#/verify?from=node");
    // As the page writes heights.
    await requestBlocks(view, url, block.height.toLocaleString("en"));
    await view.until('#node-result[data-state="valid"]');
    await view.says("#node-result .verdict", /The block is valid, and follows block/u);
    expect(await view.count("#report .checks > li")).toBe(14);
    await view.says("#report-title", `Block ${block.height.toLocaleString("en")}`);
    await view.says('[data-check="proof-of-work"] .outcome', /passed/u);
    await view.says('[data-check="previous-id"] .examined', new RegExp(block.prev_id, "u"));
    await view.says('[data-difficulty="required"]', "1,000");
    // The report itself has nothing left to do, or to cancel.
    expect(await view.of("#report .task", "it.checkVisibility()")).toBe(false);
  });
});

test(
  "a link reproduces the node and the heights, and starts no request",
  { tag: "@chromium" },
  async ({ view }) => {
    await serveNode(block.block_blob, async (url) => {
      const height = String(block.height);
      await view.go("#/verify?from=node");
      await requestBlocks(view, url, height, height);
      await view.until('#node-result[data-state="valid"]');
      const hash = await view.of<string>("html", "location.hash");
      await view.leave();
      await view.go(hash);
      await view.until("#from-node:not([hidden])");
      const texts = '["url", "from", "to"].map((name) => it.querySelector("#node-" + name).value)';
      expect(await view.of("#from-node", texts)).toEqual([url, height, height]);
      expect(await view.count('#node-result[data-state="idle"]')).toBe(1);
    });
  },
);

test("a block with one altered digit is invalid, and the failed checks say why", async ({
  view,
}) => {
  // In the nonce, so that the id and the hash both change.
  const at = 2 * 39;
  const digit = block.block_blob[at] === "0" ? "1" : "0";
  const altered = block.block_blob.slice(0, at) + digit + block.block_blob.slice(at + 1);
  await serveNode(altered, async (url) => {
    await view.go("#/verify?from=node");
    await requestBlocks(view, url, String(block.height), String(block.height));
    await view.until('#node-result[data-state="invalid"]');
    await view.until('#report[data-state="invalid"] [data-outcome="failed"]');
  });
});

test("a run stops before the workers have started", { tag: "@chromium" }, async ({ view }) => {
  await serveNode(block.block_blob, async (url) => {
    await view.leave();
    await view.of(
      "html",
      "{ globalThis.Worker = class extends EventTarget { postMessage() {} terminate() {} }; }",
    );
    await view.go("#/verify?from=node");
    await requestBlocks(view, url, String(block.height));
    // Screen readers may skip a busy element. The button and the verdict must be outside it.
    await view.until('.blocks[aria-busy="true"]');
    expect(await view.count("[aria-busy] :is(.task, .verdict)")).toBe(0);
    await view.click("#node-result .task button");
    await view.says("#node-result .verdict", "Stopped.");
    expect(await view.count("[aria-busy]")).toBe(0);
  });
});

test(
  "a block that the chain rejected is not valid when it is verified again",
  { tag: "@chromium" },
  async ({ view }) => {
    const claims = async (url: string): Promise<void> => {
      await view.go("#/verify?from=node");
      await requestBlocks(view, url, String(block.height));
      const rejected = '#report[data-state="invalid"] [data-check="difficulty"]';
      await view.until(`${rejected}[data-outcome="failed"]`);
      await view.says('[data-difficulty="claimed by the node"]', "1");
      expect(await view.count('[data-difficulty="required"]')).toBe(0);
      // Removed: the second try must set it again.
      await view.of("#report", 'it.removeAttribute("data-state")');
      await view.click("#again");
      await view.until(`${rejected}[data-outcome="failed"]`);
      // Alone it would be valid, and so a link would say.
      expect(await view.of('[data-action="link"]', "it.hidden")).toBe(true);
    };
    await serveNode(block.block_blob, claims, undefined, undefined, "0x1");
  },
);

test("a block of an unknown version is not judged", { tag: "@chromium" }, async ({ view }) => {
  await serveNode(block.block_blob.replace(/^10/u, "11"), async (url) => {
    await view.go("#/verify?from=node");
    await requestBlocks(view, url, String(block.height));
    await view.until('#node-result[data-state="failed"]');
    const why = "major version 17: this release knows versions up to 16.";
    const name = `Block ${block.height.toLocaleString("en")}`;
    await view.says("#node-result .verdict", `${name} cannot be judged: ${why}`);
    await view.says("#node-result .blocks", /^3,455,887 not decided /u);
    await view.until('#report[data-state="failed"]');
    await view.says("#report .verdict", `Not decided: ${why}`);
    // Alone, its hash is compared too.
    await view.click("#again");
    await view.until('#report[data-state="failed"] [data-check="proof-of-work"] .examined');
    await view.says("#report .verdict", `Not decided: ${why}`);
    await view.says('[data-check="proof-of-work"] .outcome', "not decided");
    expect(await view.count('[data-outcome="failed"]')).toBe(0);
  });
});

test(
  "a block of another branch is not called invalid, and the next run follows that branch",
  { tag: "@chromium" },
  async ({ view }) => {
    const previousId = "11".repeat(32);
    const next = block.height + 1;
    const blob = Buffer.from(madeBlock(next, previousId)).toString("hex");
    await serveNode(
      block.block_blob,
      async (url) => {
        await view.go("#/verify?from=node");
        await requestBlocks(view, url, String(block.height));
        await view.until('#node-result[data-state="valid"]');
        await requestBlocks(view, url, String(next));
        await view.until('#node-result[data-state="failed"]');
        await view.says(
          "#node-result .verdict",
          "Block 3,455,888 does not follow block 3,455,887 as this page verified it: the chain was reorganised, " +
            "or the node lies. The next run trusts the node about block 3,455,887 again.",
        );
        expect(await view.count("#node-result .blocks li")).toBe(0);
        // The page takes the node's block for the one before. Nobody has done the work for this one.
        await view.click("#from-node [type=submit]");
        await view.until('#report [data-check="previous-id"][data-outcome="passed"]');
        await view.until('#node-result[data-state="invalid"] [data-status="invalid"]');
      },
      undefined,
      { blob, previousId },
    );
  },
);

test("a node's bytes that are no block have no name", { tag: "@chromium" }, async ({ view }) => {
  await serveNode("ff".repeat(200), async (url) => {
    await view.go("#/verify?from=node");
    await requestBlocks(view, url, String(block.height));
    await view.until('#report[data-state="invalid"] [data-check="block"][data-outcome="failed"]');
    await view.says("#report-title", "A block");
    expect(await view.of('[data-place="id-row"]', "it.hidden")).toBe(true);
  });
});

test(
  "a second run replaces the first one, and can be stopped",
  { tag: "@chromium" },
  async ({ view }) => {
    const never = new Promise<void>(() => undefined);
    const verdict = "#node-result .verdict";
    await serveNode(
      block.block_blob,
      async (url, asked) => {
        await view.go("#/verify?from=node");
        await requestBlocks(view, url, String(block.height));
        await view.says(verdict, "Waiting for the node…");
        // Each run begins with three requests.
        await expect.poll(() => asked).toEqual({ requests: 3, aborted: 0 });
        await view.click("#from-node [type=submit]");
        await expect.poll(() => asked).toEqual({ requests: 6, aborted: 3 });
        await view.says(verdict, "Waiting for the node…");
        await view.click("#node-result .task button");
        await view.says(verdict, "Stopped.");
        await expect.poll(() => asked).toEqual({ requests: 6, aborted: 6 });
      },
      never,
    );
  },
);

test(
  "a run in the background does not replace the block that the visitor verified meanwhile",
  { tag: "@full" },
  async ({ view }) => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    await serveNode(
      block.block_blob,
      async (url) => {
        await view.go("#/verify?from=node");
        await requestBlocks(view, url, String(block.height));
        await view.go("#/verify?from=paste");
        await view.click("#fill");
        await view.fill("#block", "ff".repeat(200));
        await view.click("#from-paste [type=submit]");
        await view.until('#report[data-state="invalid"]');
        open();
        await view.until('#node-result[data-state="valid"]');
        expect(await view.count('#report[data-state="invalid"]')).toBe(1);
        await view.go("#/verify?from=node");
        await view.click("#node-result .blocks button");
        await view.until('#report[data-state="valid"]');
      },
      gate,
    );
  },
);

test("a node that cannot be reached is reported", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=node");
  await requestBlocks(view, "http://127.0.0.1:9", "1");
  await view.until('#node-result[data-state="failed"]');
  await view.says("#node-result .verdict", /node-unreachable/u);
});

test(
  "an address without its scheme is completed, and a block beyond the chain is reported",
  { tag: "@chromium" },
  async ({ view }) => {
    await serveNode(block.block_blob, async (url) => {
      await view.go("#/verify?from=node");
      await requestBlocks(view, url.replace("http://", ""), String(block.height + 2000));
      await view.until('#node-result[data-state="failed"]');
      await view.says(
        "#node-result .verdict",
        "The node’s chain has 3,455,888 blocks so far: its last one is 3,455,887, and block 3,457,887 was asked for.",
      );
      expect(await view.of("#node-url", "it.value")).toBe(url);
    });
  },
);

test("each field reports what is wrong with it", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=node");
  await requestBlocks(view, "ftp://node", "0", "x");
  await view.says("#node-url-error", "Node: expected http: or https:, got “ftp://node”.");
  await view.says("#node-from-error", /at least 1/u);
  await view.says("#node-to-error", "Last height: expected decimal digits only.");
  await requestBlocks(view, "http://node", "10", "9");
  await view.says("#node-to-error", /expected 10 to 1,009/u);
});
