//! Which engine runs the programs of a VM.

use super::VmOptions;
use super::lanes::{Hasher, Lanes};
use crate::engine::EngineChoice;
use crate::error::VmError;
use crate::interpreter::{Interpreter, Steps};
use crate::jit::native::{self, Jit};

/// Allocates `lanes` lanes with the engine that the options choose.
pub(super) fn hasher(options: VmOptions, lanes: usize) -> Result<Box<dyn Hasher>, VmError> {
    choose(options.engine, || compiled(options, lanes), || interpreted(options, lanes))
}

/// Returns what `compiled` returns, or what `interpreted` returns if that is chosen or machine code is refused.
fn choose<T>(
    choice: EngineChoice,
    compiled: impl FnOnce() -> Result<T, VmError>,
    interpreted: impl FnOnce() -> Result<T, VmError>,
) -> Result<T, VmError> {
    match choice {
        EngineChoice::Interpreter => interpreted(),
        EngineChoice::Jit => compiled(),
        EngineChoice::Auto => match compiled() {
            Err(VmError::Jit(_)) => interpreted(),
            // Without memory for scratchpads, the interpreter would keep the VM slow when there is memory again.
            other => other,
        },
    }
}

fn interpreted(options: VmOptions, lanes: usize) -> Result<Box<dyn Hasher>, VmError> {
    let engine = Interpreter::new(options.cpu);
    Ok(Box::new(Lanes::new(engine, |_| Ok(Steps::default()), lanes, options.cpu)?))
}

fn compiled(options: VmOptions, lanes: usize) -> Result<Box<dyn Hasher>, VmError> {
    let engine = native::jit(options.cpu, options.code_pages)?;
    Ok(Box::new(Lanes::new(engine, Jit::code, lanes, options.cpu)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jit::JitError;

    #[test]
    fn the_interpreter_replaces_machine_code_only_where_that_is_refused() {
        let no_memory = VmError::OutOfMemory { bytes: 2 << 20 };
        let refused = VmError::Jit(JitError::Unsupported);
        let of = |choice, compiled| choose(choice, || compiled, || Ok("interpreted"));
        for (compiled, automatic) in [
            (Ok("compiled"), Ok("compiled")),
            (Err(refused), Ok("interpreted")),
            (Err(no_memory), Err(no_memory)),
        ] {
            assert_eq!(of(EngineChoice::Auto, compiled), automatic);
            assert_eq!(of(EngineChoice::Jit, compiled), compiled);
            assert_eq!(of(EngineChoice::Interpreter, compiled), Ok("interpreted"));
        }
    }
}
