//! VMs with custom engines.

use std::sync::Arc;

use super::key::Source;
use super::lanes::Lanes;
use super::{KeyMemory, Vm, VmOptions, requested_plan};
use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::VmError;
use crate::items::ItemSource;
use crate::jit::JitError;
use crate::params::{HASH_SIZE, Version};
use crate::scratchpad::Scratchpads;

impl Vm {
    /// Creates a light VM whose programs run on a custom engine; `new_code` allocates the code of
    /// a lane. The options `engine` and `code_pages` only affect how items are computed for a cache
    /// that [`set_key`](Self::set_key) sets later. The number of lanes is not measured. Needs the feature `internals`.
    ///
    /// # Errors
    ///
    /// [`VmError::Lanes`] unless the number of lanes is 1 to [`MAX_LANES`](crate::MAX_LANES),
    /// [`VmError::Jit`] if `new_code` fails, [`VmError::OutOfMemory`] if the scratchpads, 2 MiB a
    /// lane, cannot be allocated or exceed the free memory and swap.
    pub fn with_engine<E>(
        items: Arc<dyn ItemSource>,
        version: Version,
        options: VmOptions,
        engine: E,
        new_code: fn(&E) -> Result<E::Code, JitError>,
    ) -> Result<Vm, VmError>
    where
        E: Engine + Send + 'static,
        E::Code: Send + 'static,
    {
        let source = Source::Light(items);
        let plan = requested_plan(&source, version, options)?;
        let hasher = Box::new(Lanes::new(engine, new_code, plan.lanes, options.cpu)?);
        Ok(Vm::of(source, version, options, plan, hasher))
    }
}

/// Computes one hash with an engine that may borrow, and returns the scratchpad too.
///
/// # Errors
///
/// [`VmError::Jit`] if `new_code` fails, [`VmError::OutOfMemory`] if the scratchpad cannot be
/// allocated or exceeds the free memory and swap.
pub(crate) fn hash_once<E: Engine>(
    engine: E,
    new_code: fn(&E) -> Result<E::Code, JitError>,
    key: KeyMemory,
    version: Version,
    input: &[u8],
) -> Result<([u8; HASH_SIZE], Scratchpads), VmError> {
    let mut lanes = Lanes::new(engine, new_code, 1, Cpu::detect())?;
    lanes.begin(input);
    let source = Source::new(key, VmOptions::default())?;
    let hash = lanes.finish(&source, version, None);
    Ok((hash, lanes.into_scratchpads()))
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::engine::EngineKind;
    use crate::jit::native::{self, Jit};
    use crate::superscalar::Item;

    #[derive(Debug)]
    struct NoItems;

    impl ItemSource for NoItems {
        fn compute(&self, _: &[u32], _: &mut [Item]) {}
    }

    /// Its times would choose the lanes of native VMs.
    #[test]
    fn a_custom_engine_that_compiles_joins_no_group() {
        let options = VmOptions::default();
        let engine = native::jit(options.cpu, options.code_pages).expect("machine code");
        let items = Arc::new(NoItems);
        let mut vm = Vm::with_engine(items, Version::V1, options, engine, Jit::code).expect("a VM");
        assert_eq!(vm.engine(), EngineKind::Jit);
        vm.set_version(Version::V2);
        vm.hash_many(&[[0; 8]; 8]);
        assert!(vm.member.is_none() && vm.trials.is_none());
    }
}
