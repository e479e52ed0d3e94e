/** The view Compare. */
import { fragment } from "../../shell/page.js";
import type { View } from "../../shell/view.js";
import html from "./view.html?raw";

export const view: View = {
  name: "compare",
  title: "Compare",
  mount(root) {
    root.append(fragment(html));
    return {
      unmount() {
        // Nothing was started.
      },
    };
  },
};
