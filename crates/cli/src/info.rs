//! `randomx info`: how RandomX runs on this computer, found by creating a VM.

use std::{process::ExitCode, sync::Arc};

use randomx::{Implementations, Version, Vm, memory::Memory, params::DATASET_SIZE};

use crate::{args::InfoArgs, error::Error, host::Host, mode::Mode, output, progress::Progress};

/// Prints the computer, the engine and the pages.
pub(crate) fn run(args: &InfoArgs) -> Result<ExitCode, Error> {
    let backend = args.work.backend(Mode::Light);
    let progress = Progress::on_terminal(None);
    let cache = Arc::new(backend.cache(b"", &progress.key())?);
    drop(progress);
    let vm = Vm::with_options(Arc::clone(&cache), Version::V1, backend.options);
    let mut vm = vm.map_err(Error::Vm)?;
    let mut lanes = Vec::new();
    for version in Version::ALL {
        vm.set_version(version);
        lanes.push((Mode::Light, version, vm.lanes()));
    }
    // A VM with a dataset has these lanes, and one would take 2080 MiB.
    for version in Version::ALL {
        lanes.push((Mode::Fast, version, backend.options.lanes.unwrap_or(version.fast_lanes())));
    }

    let mut host = Host::new(backend.options.cpu);
    host.implementations = Some(Implementations::new(backend.options.cpu).to_string());
    host.engine = Some(vm.engine().to_string());
    host.set_lanes(&lanes);
    host.cache = Some(cache.pages().to_string());
    host.dataset = Some(match Memory::zeroed_if_available(DATASET_SIZE) {
        Ok(memory) => memory.pages().to_string(),
        Err(_) => "no memory".to_owned(),
    });
    output::write(|out| match args.json {
        true => output::json_line(out, &host),
        false => host.write(out),
    })?;
    Ok(ExitCode::SUCCESS)
}
