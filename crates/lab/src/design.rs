//! The figures of RandomX's design document: its second chapter and its appendices.

mod chain;
mod cpu_sim;
mod entropy;
mod rng;
mod runtime;
mod section2;
mod superscalar;

pub use chain::Chain;
pub use cpu_sim::CpuSim;
pub use entropy::Entropy;
pub use rng::Rng;
pub use runtime::Runtime;
pub use section2::Section2;
pub use superscalar::Superscalar;
