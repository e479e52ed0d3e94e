//! A host that refuses every WebAssembly module. `crates/wasmi` runs modules.

use randomx::Version;
use randomx::cpu::Cpu;
use randomx::engine::Lane;
use randomx::jit::wasm::Features;
use randomx::jit::wasm::engine::Jit;
use randomx::jit::wasm::host::Host;
use randomx::scratchpad::Scratchpad;

use super::lanes::{LANES, Lanes, compare};
use super::random::Random;

struct Refusing;

impl Host for Refusing {
    type Program = ();

    fn compile(&self, _: &[u8]) -> Option<()> {
        None
    }

    fn call(&self, (): &(), _: &mut Lane, _: &mut Scratchpad) {
        unreachable!("nothing was compiled")
    }
}

#[test]
fn programs_that_the_host_refuses_are_interpreted() {
    let refused = || {
        let jit = Jit::new(Refusing, Features::default(), Cpu::detect());
        let codes = [(); LANES].map(|()| jit.code());
        Lanes::new(jit, codes)
    };
    compare(Version::V1, 10, &mut Random::new(Version::V1), refused, "no modules");
}
