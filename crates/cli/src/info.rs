//! `randomx info`: how RandomX runs on this computer, found by creating a VM.

use std::{
    env,
    fs::File,
    io::{self, Read},
    process::ExitCode,
    sync::Arc,
};

use randomx::{
    EngineKind, Implementations, Version, Vm,
    memory::{Memory, Room},
    params::DATASET_SIZE,
};
use sha2::{Digest, Sha256};

use crate::{
    args::InfoArgs,
    backend::RandomX,
    error::Error,
    host::{Host, VmLanes},
    mode::Mode,
    output,
    progress::Progress,
};

/// Prints the computer, the engine and the pages.
pub(crate) fn run(args: &InfoArgs) -> Result<ExitCode, Error> {
    let backend = RandomX { mode: Mode::Light, threads: 1, options: args.vm.options() };
    let progress = Progress::on_terminal(None);
    let cache = Arc::new(backend.cache(b"", &progress.key())?);
    drop(progress);
    let vm = Vm::with_options(Arc::clone(&cache), Version::V1, backend.options);
    let mut vm = vm.map_err(Error::Vm)?;
    let of = |mode, version, lanes| VmLanes { mode, version, threads: 1, lanes, pairs: false };
    let mut lanes = Vec::new();
    for version in Version::ALL {
        vm.set_version(version);
        let measured = Some(vm.measure_lanes());
        lanes.push(of(Mode::Light, version, measured));
    }
    // Measuring would take a dataset of 2080 MiB.
    let unmeasured = vm.engine() == EngineKind::Jit;
    for version in Version::ALL {
        let expected = (!unmeasured).then(|| version.fast_lanes());
        let expected = backend.options.lanes.or(expected);
        lanes.push(of(Mode::Fast, version, expected));
    }

    let mut host = Host::new(backend.options.cpu);
    host.implementations = Some(Implementations::new(backend.options.cpu).to_string());
    host.sha256 = own_hash().ok();
    host.engine = Some(vm.engine().to_string());
    host.set_lanes(&lanes);
    host.cache = Some(cache.pages().to_string());
    host.dataset = Some(match Memory::zeroed_if_available(DATASET_SIZE, Room::Memory) {
        Ok(memory) => memory.pages().to_string(),
        Err(_) => "no memory".to_owned(),
    });
    output::write(|out| match args.json {
        true => output::json_line(out, &host),
        false => host.write(out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the SHA-256 hash of this program's file, which a release lists in `SHA256SUMS`.
fn own_hash() -> io::Result<String> {
    // On Linux the first path names the running file even if another one has its path now.
    let running = if cfg!(target_os = "linux") { File::open("/proc/self/exe").ok() } else { None };
    let mut file = match running {
        Some(file) => file,
        None => File::open(env::current_exe()?)?,
    };
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hex::encode(hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
    }
}
