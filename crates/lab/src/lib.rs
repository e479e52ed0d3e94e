//! The laboratory: what RandomX's design document and the studies beside it claim, measured again.
//!
//! An [`Experiment`] runs at a size and from a seed that [`Settings`] give, and makes a [`Report`]: the
//! figures that were published beside those of today, with the reason where they differ, and pictures.
//! `randomx-lab` is the command for it.
//!
//! ```
//! use randomx_lab::{Settings, find};
//!
//! # fn main() -> Result<(), randomx_lab::LabError> {
//! let chain = find("chain")?;
//! let settings = Settings { samples: Some(1000), ..Settings::default() };
//! let report = randomx_lab::run(chain, &settings, &mut ())?;
//! println!("{}", report.to_text());
//! # Ok(())
//! # }
//! ```

pub mod blake2;
pub mod cycles;
mod design;
mod dieharder;
pub mod encode;
mod error;
mod experiment;
mod key;
mod list;
pub mod parallel;
pub mod randen;
pub mod random;
pub mod rdrand;
mod registry;
mod report;
mod settings;
pub mod sha256;

pub use error::LabError;
pub use experiment::{Experiment, Progress, Samples, Stream};
pub use list::list;
pub use registry::{EXPERIMENTS, find, run, stream};
pub use report::{Cells, Picture, Report, Row, Series, Shape, Table};
pub use settings::Settings;
