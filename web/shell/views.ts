/** The page's views. All but the first are loaded when they are first opened. */
import { view as verify } from "../views/verify/view.js";
import type { View, ViewName } from "./view.js";

/** Where an address without a view's name leads. */
export const FIRST: ViewName = "verify";

/** How each view is had. */
export const views: Readonly<Record<ViewName, () => View | Promise<View>>> = {
  verify: () => verify,
  compare: async () => (await import("../views/compare/view.js")).view,
  bench: async () => (await import("../views/bench/view.js")).view,
  explore: async () => (await import("../views/explore/view.js")).view,
};
