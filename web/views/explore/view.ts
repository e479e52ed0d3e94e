/** The view Explore. */
import { fragment } from "../../shell/page.js";
import type { View } from "../../shell/view.js";
import html from "./view.html?raw";

export const view: View = {
  name: "explore",
  title: "Explore",
  mount(root) {
    root.append(fragment(html));
    return {
      unmount() {
        // Nothing was started.
      },
    };
  },
};
