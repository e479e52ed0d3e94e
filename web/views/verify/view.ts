/** The view Verify: a real block at once, and any block or a node's chain on request. */
import { find, fragment } from "../../shell/page.js";
import type { View } from "../../shell/view.js";
import { showBlock } from "./block.js";
import { inTurn } from "./examples.js";
import { wireForm } from "./form.js";
import { wireNode } from "./node.js";
import { Verification } from "./verification.js";
import "./style.css";
import html from "./view.html?raw";

export const view: View = {
  name: "verify",
  title: "Verify",
  mount(root) {
    root.append(fragment(html));
    const closing = new AbortController();
    const { signal } = closing;
    const examples = inTurn();
    const block = examples.next().value;
    const again = find(root, "#again", HTMLButtonElement);
    const example = new Verification("example");

    const verify = async (): Promise<void> => {
      again.disabled = true;
      await example.run(block, signal);
      again.disabled = false;
    };

    showBlock(block);
    wireForm(new Verification("form"), examples, signal);
    wireNode(signal);
    again.addEventListener("click", () => void verify());
    void verify();
    return {
      unmount() {
        closing.abort();
      },
    };
  },
};
