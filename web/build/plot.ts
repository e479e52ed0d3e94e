/** Leaves out of Observable Plot what the page’s plots do not use, which is a third of the library. */
import type { Plugin } from "vite";

/**
 * Modules of the library that projections, times, colour scales, legends, tips, curves and symbols need, without these.
 * Each exports what the others import. A plot that needed one would fail at once.
 */
const REPLACED: Readonly<Record<string, string>> = {
  "projection.js": `
    import { valueObject } from "./channel.js";
    import { coerceNumbers } from "./options.js";
    const none = () => undefined;
    export const createProjection = none;
    export const projectionAspectRatio = none;
    export const xyProjection = none;
    export const hasProjection = () => false;
    export function project() { throw new Error("there are no projections"); }
    export function getGeometryChannels() { throw new Error("there are no projections"); }
    export function applyPosition({ x, y }, scales) {
      const position = valueObject({ ...(x && { x }), ...(y && { y }) }, scales);
      if (x) position.x = coerceNumbers(position.x);
      if (y) position.y = coerceNumbers(position.y);
      return position;
    }`,
  "time.js": `
    const none = () => { throw new Error("there are no times"); };
    export const intervalDuration = Symbol();
    export {
      none as generalizeTimeInterval,
      none as inferTimeFormat,
      none as parseTimeInterval,
      none as timeInterval,
      none as utcInterval,
    };`,
  "scales/temporal.js": `
    const none = () => { throw new Error("there are no times"); };
    export { none as createScaleTime, none as createScaleUtc };`,
  "scales/diverging.js": `
    const none = () => { throw new Error("there are no colour scales"); };
    export {
      none as createScaleDiverging,
      none as createScaleDivergingSqrt,
      none as createScaleDivergingPow,
      none as createScaleDivergingLog,
      none as createScaleDivergingSymlog,
    };`,
  "scales/schemes.js": `
    const none = () => { throw new Error("there are no colour schemes"); };
    export const ordinalScheme = none;
    export const ordinalRange = none;
    export const maybeBooleanRange = none;
    export const quantitativeScheme = none;
    export const isCategoricalScheme = () => false;
    export const isDivergingScheme = () => false;`,
  "legends.js": `
    export function legend() { throw new Error("there are no legends"); }
    export const exposeLegends = () => legend;
    export const createLegends = () => [];`,
  "marks/tip.js": `
    const none = () => { throw new Error("there are no tips"); };
    export { none as Tip, none as tip };`,
  "curve.js": `
    import { curveLinear } from "d3";
    export const curveAuto = (context) => curveLinear(context);
    export function maybeCurve(curve = curveLinear) {
      if (typeof curve !== "function") throw new Error("there are no other curves");
      return curve;
    }
    export const maybeCurveAuto = (curve = curveAuto) => maybeCurve(curve);`,
  "symbol.js": `
    export const sqrt3 = Math.sqrt(3);
    export const sqrt4_3 = 2 / sqrt3;
    export const isSymbol = (value) => typeof value?.draw === "function";
    export function maybeSymbol(symbol) {
      if (symbol != null && !isSymbol(symbol)) throw new Error("there are no other symbols");
      return symbol;
    }
    export const maybeSymbolChannel = (symbol) => [undefined, maybeSymbol(symbol)];`,
  "interactions/pointer.js": `
    const none = () => { throw new Error("there are no pointers"); };
    export { none as pointer, none as pointerX, none as pointerY };`,
};

/** Imports from packages that only plots with projections or times call. */
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  "d3-geo": ["geoCentroid", "geoGraticule10", "geoPath"],
  "d3-time": [
    "Second",
    "Minute",
    "Hour",
    "Day",
    "Week",
    "Month",
    "Year",
    "Ticks",
    "TickInterval",
  ].flatMap((name) => [`time${name}`, `utc${name}`]),
  "d3-time-format": ["timeFormat", "utcFormat"],
};

const FILE = /\/@observablehq\/plot\/src\/(.+\.js)$/u;
const PACKAGE = /\/node_modules\/(d3-[a-z-]+)\//u;

/** How d3 makes its curves and interpolators: by a call that has no other effect, which bundlers cannot know. */
const MADE = /= (\(function )/gu;

/** Replaces the modules in a build. */
export const smallPlot: Plugin = {
  name: "small-plot",
  enforce: "pre",
  apply: "build",
  load: (id) => {
    const unused = UNUSED[PACKAGE.exec(id)?.[1] ?? ""];
    if (!unused) return REPLACED[FILE.exec(id)?.[1] ?? ""];
    const names = unused.map((name) => `none as ${name}`).join(", ");
    return `const none = () => { throw new Error("not in this build"); }; export { ${names} };`;
  },
  transform: (code, id) =>
    PACKAGE.test(id) ? code.replaceAll(MADE, "= /* @__PURE__ */ $1") : undefined,
};
