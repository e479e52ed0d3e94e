/** The page: verifies a real block at once, and any block or a node's chain on request. */
import { showBlock } from "./block.js";
import { inTurn } from "./examples.js";
import { wireForm } from "./form.js";
import { wireNode } from "./node.js";
import { find } from "./page.js";
import { Verification } from "./verification.js";

const examples = inTurn();
const block = examples.next().value;
const again = find(document, "#again", HTMLButtonElement);
const view = new Verification("example");

async function verify(): Promise<void> {
  again.disabled = true;
  await view.run(block);
  again.disabled = false;
}

showBlock(block);
wireForm(new Verification("form"), examples);
wireNode();
again.addEventListener("click", () => void verify());
void verify();
