//! The reference, linked from the crate randomx-rs.

use std::{
    cell::OnceCell, env, hint::black_box, os::unix::process::CommandExt, process::Command,
    sync::Arc,
};

use randomx::{
    EngineChoice, Version,
    cpu::Extension,
    params::{CACHE_SIZE, DATASET_SIZE, SCRATCHPAD_L3},
};

use super::{
    ffi::{self, Cache, Dataset, Fill, Source, Vm, no_memory},
    primitives,
};
use crate::{
    args::BenchArgs,
    backend::Hash,
    bench::{
        hashing::{self, Hasher, Input},
        measure::{Contestant, try_repeat},
        native::{KEY, Native},
        subject::{Hashing, Subject},
    },
    error::Error,
    mode::Mode,
};

/// Creates the reference's contestants, and the cache and dataset that they need.
pub(crate) struct Reference {
    flags: u32,
    lanes: usize,
    huge_pages: Option<String>,
    cache: Option<Arc<Cache>>,
    dataset: Option<Arc<Dataset>>,
    supports_v2: OnceCell<bool>,
}

impl Reference {
    /// The reference with all features of this processor.
    pub(crate) fn new(args: &BenchArgs) -> Result<Reference, Error> {
        let huge_pages = run_with_huge_pages()?;
        let mut flags = ffi::recommended_flags();
        let options = args.work.vm_options();
        if options.engine == EngineChoice::Interpreter {
            flags &= !ffi::JIT;
        }
        if !options.cpu.has(Extension::Aes) {
            flags &= !ffi::HARD_AES;
        }
        if !options.cpu.has(Extension::Avx2) {
            flags &= !ffi::ARGON2_AVX2;
        }
        let lanes = args.work.lanes();
        let (cache, dataset, supports_v2) = (None, None, OnceCell::new());
        Ok(Reference { flags, lanes, huge_pages, cache, dataset, supports_v2 })
    }

    /// The description for the report.
    pub(crate) fn description(&self) -> String {
        let engine = if self.flags & ffi::JIT != 0 { "JIT" } else { "interpreter" };
        let versions = if self.supports_v2.get() == Some(&true) { "v1 and v2" } else { "v1" };
        let start = format!("tevador/RandomX by randomx-rs, {versions}, {engine}");
        self.huge_pages.iter().fold(start, |start, setting| format!("{start}, {setting}"))
    }

    /// The contestant of a row, if the reference can do that.
    pub(crate) fn contestant(
        &mut self,
        subject: &Subject,
        native: &mut Native<'_>,
    ) -> Result<Option<Contestant<'static>>, Error> {
        Ok(Some(match subject {
            Subject::Blake2b => primitives::blake2b(),
            Subject::Blake2bLong => primitives::blake2b_long(),
            // The functions that are called use the processor's AES instructions.
            Subject::Aes1R | Subject::Aes4R | Subject::AesHash1R
                if self.flags & ffi::HARD_AES == 0 =>
            {
                return Ok(None);
            }
            Subject::Aes1R => primitives::aes_1r()?,
            Subject::Aes4R => primitives::aes_4r()?,
            Subject::AesHash1R => primitives::aes_hash()?,
            Subject::Superscalar => primitives::superscalar(),
            Subject::Argon2d => match Fill::new(self.flags & ffi::ARGON2_AVX2 != 0) {
                Some(fill) => primitives::argon2d(fill)?,
                None => return Ok(None),
            },
            Subject::Cache => {
                let flags = self.flags;
                try_repeat(1.0, move || {
                    black_box(Cache::new(flags, KEY).ok_or(no_memory(CACHE_SIZE))?);
                    Ok(())
                })
            }
            Subject::Dataset { threads } => primitives::dataset(self.cache()?, *threads),
            Subject::Compile(version) if self.compiles(*version)? => primitives::compile(*version),
            Subject::Compile(_) | Subject::Trace(_) | Subject::CacheAndDataset { .. } => {
                return Ok(None);
            }
            Subject::Hash(how) => {
                let vms = (0..how.threads).map(|_| self.vm(how, native));
                match vms.collect::<Result<Option<Vec<Vm>>, Error>>()? {
                    Some(vms) => hashing::contestant(vms, how.batch(self.lanes)),
                    None => return Ok(None),
                }
            }
        }))
    }

    /// One thread's VM, if the library supports the version.
    pub(crate) fn vm(
        &mut self,
        how: &Hashing,
        native: &mut Native<'_>,
    ) -> Result<Option<Vm>, Error> {
        if how.version == Version::V2 && !self.supports_v2()? {
            return Ok(None);
        }
        let source = match how.mode {
            Mode::Light => Source::Cache(self.cache()?),
            Mode::Fast => Source::Dataset(self.dataset(native)?),
        };
        let version = if how.version == Version::V2 { ffi::V2 } else { 0 };
        Vm::new(self.flags | version, source).ok_or(no_memory(SCRATCHPAD_L3)).map(Some)
    }

    fn compiles(&mut self, version: Version) -> Result<bool, Error> {
        let known = version == Version::V1 || self.supports_v2()?;
        Ok(known && self.flags & ffi::JIT != 0)
    }

    /// Whether the library supports v2: whether the flag for it changes a hash.
    fn supports_v2(&mut self) -> Result<bool, Error> {
        if let Some(&known) = self.supports_v2.get() {
            return Ok(known);
        }
        let cache = self.cache()?;
        let hash = |flags| {
            let vm =
                Vm::new(flags, Source::Cache(Arc::clone(&cache))).ok_or(no_memory(SCRATCHPAD_L3));
            vm.map(|mut vm| vm.hashes(&hashing::inputs(0, 1)))
        };
        let known = hash(self.flags)? != hash(self.flags | ffi::V2)?;
        Ok(*self.supports_v2.get_or_init(|| known))
    }

    fn cache(&mut self) -> Result<Arc<Cache>, Error> {
        let cache = match self.cache.take() {
            Some(cache) => cache,
            None => Arc::new(Cache::new(self.flags, KEY).ok_or(no_memory(CACHE_SIZE))?),
        };
        Ok(Arc::clone(self.cache.insert(cache)))
    }

    /// The dataset, copied from ours: the items are the same, and ours are faster to compute.
    fn dataset(&mut self, native: &mut Native<'_>) -> Result<Arc<Dataset>, Error> {
        let dataset = match self.dataset.take() {
            Some(dataset) => dataset,
            None => {
                let mut dataset = Dataset::new().ok_or(no_memory(DATASET_SIZE))?;
                dataset.copy_from(native.dataset()?.items());
                Arc::new(dataset)
            }
        };
        Ok(Arc::clone(self.dataset.insert(dataset)))
    }
}

/// Makes glibc allocate huge pages for the reference, which does not request any.
const TUNABLE: &str = "glibc.malloc.hugetlb=1";

/// Returns glibc's setting of huge pages. Without one, restarts this command with huge pages for all large allocations.
fn run_with_huge_pages() -> Result<Option<String>, Error> {
    const VARIABLE: &str = "GLIBC_TUNABLES";
    let mut tunables = env::var(VARIABLE).unwrap_or_default();
    let setting = huge_pages(&tunables);
    if !cfg!(target_os = "linux") || setting.is_some() {
        return Ok(setting.map(ToOwned::to_owned));
    }
    if !tunables.is_empty() {
        tunables.push(':');
    }
    tunables.push_str(TUNABLE);
    let again =
        |program| Command::new(program).args(env::args_os().skip(1)).env(VARIABLE, tunables).exec();
    // `exec` returns only on failure.
    let problem = env::current_exe().map_or_else(|problem| problem, again);
    Err(Error::Reference(format!("--against reference: cannot run with {TUNABLE}: {problem}")))
}

/// Returns the setting of huge pages among glibc's tunables. Of several, the last one counts.
fn huge_pages(tunables: &str) -> Option<&str> {
    tunables.split(':').rfind(|tunable| tunable.starts_with("glibc.malloc.hugetlb="))
}

impl Hasher for Vm {
    fn hashes(&mut self, inputs: &[Input]) -> Vec<Hash> {
        Vm::hashes(self, inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_of_huge_pages_is_the_one_that_counts() {
        assert_eq!(huge_pages(""), None);
        assert_eq!(huge_pages("glibc.malloc.check=3"), None);
        assert_eq!(huge_pages(TUNABLE), Some(TUNABLE));
        let several = "glibc.malloc.hugetlb=1:glibc.malloc.hugetlb=0:glibc.malloc.check=3";
        assert_eq!(huge_pages(several), Some("glibc.malloc.hugetlb=0"));
    }
}
