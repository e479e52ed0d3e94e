/** Stands for the modules of Node.js that monero-ts names and does not use in browsers. */
function assert(condition, message) {
  if (!condition) throw new Error(message ?? "assertion failed");
}
assert.equal = (a, b, message) => assert(a == b, message);
assert.Agent = class {};
module.exports = assert;
