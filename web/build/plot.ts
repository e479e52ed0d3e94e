/** Leaves out of Observable Plot what the page’s plots do not use, which is a seventh of the library. */
import type { Plugin } from "vite";

/**
 * Modules of the library that geographic projections, colour scales and legends need, without these.
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
};

/** What the library imports of `d3-geo`. Only plots with projections call it. */
const GEOGRAPHY = `
  const none = () => { throw new Error("there are no projections"); };
  export { none as geoCentroid, none as geoGraticule10, none as geoPath };`;

const FILE = /\/@observablehq\/plot\/src\/(.+\.js)$/u;
const GEOGRAPHY_FILE = /\/d3-geo\/.+\.m?js$/u;

/** Replaces the modules in a build. */
export const smallPlot: Plugin = {
  name: "small-plot",
  enforce: "pre",
  apply: "build",
  load: (id) => (GEOGRAPHY_FILE.test(id) ? GEOGRAPHY : REPLACED[FILE.exec(id)?.[1] ?? ""]),
};
