/**
 * Hashes "This is a test" with the key "test key 000" in a native add-on, and fails if a hash is not the expected one.
 * Arguments: the package's folder, the hashes of v1 and v2.
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [folder, ...expected] = process.argv.slice(2);
const addon = createRequire(import.meta.url)(resolve(folder));
const system = `${process.platform}-${process.arch}, Node.js ${process.version}`;
console.log(`${system}: ${addon.implementations()}`);

const cache = new addon.CacheBuilder(Buffer.from("test key 000")).finish(false);
const vm = new addon.Vm(cache);
const hashes = [1, 2].map((version) => {
  return Buffer.from(vm.hashMany(version, [Buffer.from("This is a test")])).toString("hex");
});
if (hashes.join() !== expected.join()) {
  throw new Error(
    `${system}: expected the hashes ${expected.join(", ")}, got ${hashes.join(", ")}`,
  );
}
