/** Where the tests' servers listen. */

/** The product, as `npm start` serves it. */
export const PRODUCT = "http://127.0.0.1:4191/";

/** The harness: a page that gives tests the package to call. */
export const HARNESS = "http://127.0.0.1:4192/";
