//! The laboratory: the measurements of RandomX's design document and of related studies, repeated.
//!
//! An [`Experiment`] runs with [`Settings`] and returns a [`Report`]: published figures beside those
//! measured here, the reason for each difference, and pictures. The binary `randomx-lab` runs
//! experiments from the command line.
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
mod description;
mod design;
mod dieharder;
pub mod encode;
mod error;
mod experiment;
mod key;
mod list;
pub mod parallel;
mod progress;
pub mod randen;
pub mod random;
pub mod rdrand;
mod registry;
mod report;
mod settings;
pub mod sha256;

pub use description::{Description, Samples};
pub use error::LabError;
pub use experiment::{Experiment, Stream};
pub use list::list;
pub use progress::Progress;
pub use registry::{EXPERIMENTS, find, run, stream};
pub use report::{Cells, Picture, Report, Row, Series, Shape, Table};
pub use settings::Settings;
