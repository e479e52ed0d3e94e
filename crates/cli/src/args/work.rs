//! Arguments about speed and memory.

use clap::{Args, ValueEnum};
use randomx::{
    CodePages, EngineChoice, MAX_LANES, MAX_THREADS, Version, VmOptions,
    cpu::{Cpu, Extension},
};
use randomx_client::LightHasher;
use randomx_console::machine;

use crate::{backend::RandomX, hasher::Spread, mode::Mode};

/// How to compute; none of these changes a result.
#[derive(Args, Clone)]
#[command(next_help_heading = "Speed and memory")]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    vm: VmArgs,

    /// Threads that hash at once, 1 to 1024 [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS as i64))]
    threads: Option<u16>,
}

/// How a VM computes.
#[derive(Args, Clone)]
#[command(next_help_heading = "Speed and memory")]
pub(crate) struct VmArgs {
    /// How to execute the programs of a hash
    #[arg(long, value_enum, default_value_t = EngineName::Auto)]
    engine: EngineName,

    /// Inputs that each thread hashes in lockstep, 1 to 8 [default: the fastest, measured with the first hashes]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=MAX_LANES as i64))]
    lanes: Option<u8>,

    /// Switch the pages of machine code between writable and executable, with two system calls per
    /// program. By default, the code has a second, writable mapping
    #[arg(long)]
    secure: bool,

    /// Ignore a processor extension, such as aes or avx2, and those that build on it; may be
    /// repeated
    #[arg(long, value_name = "EXTENSION", value_delimiter = ',', value_parser = extension)]
    without: Vec<Extension>,
}

/// Parses the name of an extension.
fn extension(name: &str) -> Result<Extension, String> {
    let mut all = Extension::ALL.into_iter();
    all.find(|extension| extension.to_string() == name).ok_or_else(|| {
        let names = Extension::ALL.map(|extension| extension.to_string());
        format!("expected one of {}", names.join(", "))
    })
}

impl VmArgs {
    /// The options of VMs.
    pub(crate) fn options(&self) -> VmOptions {
        VmOptions {
            lanes: self.lanes.map(usize::from),
            engine: match self.engine {
                EngineName::Auto => EngineChoice::Auto,
                EngineName::Interpreter => EngineChoice::Interpreter,
                EngineName::Jit => EngineChoice::Jit,
            },
            cpu: self.without.iter().fold(Cpu::detect(), |cpu, &lacking| cpu.without(lacking)),
            code_pages: if self.secure { CodePages::Flipped } else { CodePages::Aliased },
        }
    }
}

impl WorkArgs {
    /// The options of VMs.
    pub(crate) fn vm_options(&self) -> VmOptions {
        self.vm.options()
    }

    pub(crate) fn backend(&self, mode: Mode) -> RandomX {
        RandomX { mode, threads: self.threads(), options: self.vm_options() }
    }

    /// The hasher of the light client.
    pub(crate) fn light_hasher(&self) -> LightHasher {
        LightHasher::with_options(self.threads(), self.vm_options())
    }

    pub(crate) fn threads(&self) -> usize {
        let processors = || machine::processors().min(MAX_THREADS);
        self.threads.map_or_else(processors, usize::from)
    }

    /// The most inputs that a thread is given at once.
    pub(crate) fn lanes(&self) -> usize {
        self.vm.lanes.map_or(MAX_LANES, usize::from)
    }

    pub(crate) fn spread(&self) -> Spread {
        Spread { threads: self.threads(), lanes: self.lanes() }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum VersionName {
    V1,
    V2,
}

impl From<VersionName> for Version {
    fn from(name: VersionName) -> Version {
        match name {
            VersionName::V1 => Version::V1,
            VersionName::V2 => Version::V2,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum EngineName {
    /// Machine code if possible, else the interpreter
    Auto,
    /// The portable interpreter
    Interpreter,
    /// Machine code, or an error if it is unavailable
    Jit,
}
