/** Loading the synchronous interface: several loads at once, and the types that servers send. */
import { readFileSync } from "node:fs";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, describe, expect, test, vi } from "vitest";
import { compile } from "../../wasm/js/environment.js";
import { createVm, initCache, load } from "../../wasm/js/sync.js";
import { text } from "./support.js";

const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
const bytes = readFileSync(new URL("../../wasm/pkg/randomx_wasm_bg.wasm", import.meta.url));

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

// The first test: the module is loaded once in a process.
test("a load that ends late leaves the instance of earlier calls in use", async () => {
  let delay = 0;
  vi.spyOn(WebAssembly, "instantiate").mockImplementation((async (
    module: WebAssembly.Module,
    imports: WebAssembly.Imports,
  ) => {
    await new Promise((resolve) => setTimeout(resolve, (delay += 20)));
    return new WebAssembly.Instance(module, imports);
  }) as unknown as typeof WebAssembly.instantiate);
  const module = new WebAssembly.Module(bytes);
  const [first, ...later] = [load(module), load(module), load(module)];
  await first;
  using cache = initCache(text("test key 000"));
  using vm = createVm(cache, { engine: "interpreter", lanes: 1 });
  await Promise.all(later);
  expect(bytesToHex(vm.calculateHash(text("This is a test")))).toBe(known);
});

describe("a module from a server", () => {
  const types = [
    ["application/wasm", true],
    ["application/wasm; charset=utf-8", false],
    ["application/octet-stream", false],
    [undefined, false],
  ] as const;

  test.each(types)("of type %s is compiled, as it arrives: %s", async (type, isStreamed) => {
    const headers = new Headers(type && { "Content-Type": type });
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(bytes, { headers })));
    const streaming = vi.spyOn(WebAssembly, "compileStreaming");
    expect(await compile(new URL("https://example.org/a.wasm"))).toBeInstanceOf(WebAssembly.Module);
    expect(streaming).toHaveBeenCalledTimes(isStreamed ? 1 : 0);
  });
});
