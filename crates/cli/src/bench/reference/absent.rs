//! Stands for the reference in a binary without it.

use crate::{
    args::BenchArgs,
    backend::Hash,
    bench::{
        hashing::{Hasher, Input},
        measure::Contestant,
        native::Native,
        subject::{Hashing, Subject},
    },
    error::Error,
};

/// The reference, which never exists here.
pub(crate) enum Reference {}

impl Reference {
    pub(crate) fn new(_: &BenchArgs) -> Result<Reference, Error> {
        let problem = "--against reference: expected a binary with the reference, built by \
                       `cargo build --release -p randomx-cli --features reference`";
        Err(Error::Reference(problem.to_owned()))
    }

    pub(crate) fn description(&self) -> String {
        match *self {}
    }

    pub(crate) fn contestant(
        &mut self,
        _: &Subject,
        _: &mut Native<'_>,
    ) -> Result<Option<Contestant<'static>>, Error> {
        match *self {}
    }

    pub(crate) fn vm(
        &mut self,
        _: &Hashing,
        _: &mut Native<'_>,
    ) -> Result<Option<Reference>, Error> {
        match *self {}
    }
}

impl Hasher for Reference {
    fn hashes(&mut self, _: &[Input]) -> Vec<Hash> {
        match *self {}
    }
}
