//! `randomx info`: how RandomX runs on this machine, found out by trying it.

use std::{process::ExitCode, sync::Arc};

use randomx::{Version, Vm, memory::Memory, params::DATASET_SIZE};

use crate::{args::InfoArgs, args::Mode, error::Error, host::Host, output, progress::Progress};

/// Prints the machine, the engine and the pages.
pub(crate) fn run(args: &InfoArgs) -> Result<ExitCode, Error> {
    let machine = args.work.machine(Mode::Light);
    let progress = Progress::on_terminal(0);
    let cache = Arc::new(machine.cache(b"", &progress.key(0, 1))?);
    drop(progress);
    let vm = Vm::with_options(Arc::clone(&cache), Version::V1, machine.options);
    let vm = vm.map_err(Error::Vm)?;

    let mut host = Host::new(machine.options.cpu);
    host.engine = Some(vm.engine().to_string());
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
