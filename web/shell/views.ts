/** The page's views. All except the first load when they are first opened. */
import { view as verify } from "../views/verify/view.js";
import type { View, ViewName } from "./view.js";

/** Loads each view. */
export const views: Readonly<Record<ViewName, () => View | Promise<View>>> = {
  verify: () => verify,
  follow: async () => (await import("../views/follow/view.js")).view,
  compare: async () => (await import("../views/compare/view.js")).view,
  bench: async () => (await import("../views/bench/view.js")).view,
  explore: async () => (await import("../views/explore/view.js")).view,
};
