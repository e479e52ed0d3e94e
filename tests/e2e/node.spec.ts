/** The page asks a node, played by the test: a real block of mainnet on a history that leads to it. */
import { expect, test, type Page } from "@playwright/test";
import { readText } from "./support.js";

const NODE = "http://127.0.0.1:18081";

/** Where the difficulty rule comes to where all blocks before are this far apart, and as difficult. */
const TARGET = 120;
const DIFFICULTY = "0x3e8";

const { blocks } = JSON.parse(readText("tests/vectors/mainnet-blocks.json")) as {
  blocks: {
    height: number;
    id: string;
    prev_id: string;
    timestamp: number;
    seed_height: number;
    seed_hash: string;
    block_blob: string;
  }[];
};
const [block] = blocks;
if (!block) throw new Error("there is no block");
const { height, id, prev_id, timestamp, seed_height, seed_hash, block_blob } = block;

/** What the node says of a block. */
function header(of: number): Record<string, unknown> {
  const ids = new Map([
    [height, id],
    [height - 1, prev_id],
    [seed_height, seed_hash],
  ]);
  return {
    orphan_status: false,
    height: of,
    hash: ids.get(of) ?? "00".repeat(32),
    prev_hash: "00".repeat(32),
    major_version: 16,
    minor_version: 16,
    timestamp: timestamp - TARGET * (height - of),
    nonce: 0,
    num_txes: 0,
    miner_tx_hash: "00".repeat(32),
    wide_difficulty: DIFFICULTY,
    wide_cumulative_difficulty: DIFFICULTY,
  };
}

function answer(method: string, params: Record<string, number>, blob: string): unknown {
  const { start_height: first = 0, end_height: last = 0, height: asked = 0 } = params;
  if (method === "get_block") return { blob, block_header: header(asked) };
  if (method === "get_block_header_by_height") return { block_header: header(asked) };
  return {
    headers: Array.from({ length: last - first + 1 }, (_, index) => header(first + index)),
  };
}

/** Opens the page with a node at `NODE` that gives this blob for the block. */
async function openWithNode(page: Page, blob: string): Promise<void> {
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*" };
  await page.route(`${NODE}/json_rpc`, async (route) => {
    const request = route.request();
    if (request.method() === "OPTIONS") return route.fulfill({ headers });
    const { method, params } = request.postDataJSON() as {
      method: string;
      params: Record<string, number>;
    };
    const status = "OK";
    const result = { ...(answer(method, params, blob) as object), status };
    return route.fulfill({ headers, json: { jsonrpc: "2.0", id: "0", result } });
  });
  await page.goto("/");
}

async function ask(page: Page, first: string, last: string, url = NODE): Promise<void> {
  await page.getByLabel("Node", { exact: true }).fill(url);
  await page.getByLabel("First height").fill(first);
  await page.getByLabel("Last height").fill(last);
  await page.getByRole("button", { name: "Verify the chain" }).click();
}

test("a node's block is verified, check by check", async ({ page }) => {
  await openWithNode(page, block_blob);
  await ask(page, String(height), String(height));
  await expect(page.locator("#node")).toHaveAttribute("data-state", "valid");
  await expect(page.locator("#node-verdict")).toHaveText(/^The block is valid, and follows? on/u);
  await page.locator("#node-blocks summary").click();
  const checks = page.locator("#node-blocks ul li");
  await expect(checks).toHaveCount(12);
  await expect(checks.last()).toHaveText(/^proof-of-work holds: /u);
});

test("a block with one digit changed is rejected, and the checks that fail say why", async ({
  page,
}) => {
  // In the nonce: the id is another one then, and so is the hash.
  const at = 2 * 39;
  const digit = block_blob[at] === "0" ? "1" : "0";
  await openWithNode(page, block_blob.slice(0, at) + digit + block_blob.slice(at + 1));
  await ask(page, String(height), String(height));
  await expect(page.locator("#node")).toHaveAttribute("data-state", "invalid");
  await expect(page.locator('#node-blocks [data-outcome="failed"]').first()).toBeVisible();
});

test("a node that cannot be reached is said to be so", async ({ page }) => {
  await page.goto("/");
  await ask(page, "1", "1", "http://127.0.0.1:9");
  await expect(page.locator("#node")).toHaveAttribute("data-state", "failed");
  await expect(page.locator("#node-verdict")).toHaveText(/node-unreachable/u);
});

test("fields say what is wrong with them", async ({ page }) => {
  await page.goto("/");
  await ask(page, "0", "x", "ftp://node");
  await expect(page.locator("#node-url-error")).toHaveText(/http: or https:/u);
  await expect(page.locator("#node-from-error")).toHaveText(/at least 1/u);
  await expect(page.locator("#node-to-error")).toHaveText(/whole number/u);
  await ask(page, "10", "9");
  await expect(page.locator("#node-to-error")).toHaveText(/expected 10 to 1,009/u);
});
