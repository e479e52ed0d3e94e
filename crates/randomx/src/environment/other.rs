//! WebAssembly has no such environment; on other processors the caller must leave the default, as the documentation
//! of `Vm` says.

/// Stands for the default environment.
pub(crate) struct DefaultEnvironment {}

impl DefaultEnvironment {
    pub(crate) fn enter() -> DefaultEnvironment {
        DefaultEnvironment {}
    }
}
