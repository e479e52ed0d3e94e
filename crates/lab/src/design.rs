//! RandomX's design document: its appendices, and the figures of its second chapter.

mod chain;
mod cpu_sim;

pub use chain::Chain;
pub use cpu_sim::CpuSim;
