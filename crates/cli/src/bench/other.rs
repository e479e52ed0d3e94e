//! The other implementation of a comparison.

use super::{
    hashing::{self, Hasher},
    measure::Contestant,
    native::Native,
    reference::Reference,
    subject::Subject,
    xmrig::Xmrig,
};
use crate::{
    args::{Against, BenchArgs},
    error::Error,
};

/// An implementation by others.
pub(crate) enum Other {
    Reference(Reference),
    Xmrig(Xmrig),
}

impl Other {
    /// The implementation that the arguments name.
    pub(crate) fn new(args: &BenchArgs) -> Result<Option<Other>, Error> {
        Ok(match (args.against, &args.xmrig) {
            (Some(Against::Reference), Some(_)) => return Err(Error::UnusedXmrig),
            (Some(Against::Reference), None) => Some(Other::Reference(Reference::new(args)?)),
            // The command line has the path if XMRig is asked for.
            (Some(Against::Xmrig), Some(program)) => Some(Other::Xmrig(Xmrig::new(program)?)),
            (Some(Against::Xmrig), None) | (None, _) => None,
        })
    }

    /// The description for the report.
    pub(crate) fn description(&self) -> String {
        match self {
            Other::Reference(reference) => reference.description(),
            Other::Xmrig(xmrig) => xmrig.description(),
        }
    }

    /// The contestant of a row, if the implementation can do that.
    pub(crate) fn contestant(
        &mut self,
        subject: &Subject,
        native: &mut Native<'_>,
    ) -> Result<Option<Contestant<'static>>, Error> {
        match self {
            Other::Reference(reference) => reference.contestant(subject, native),
            Other::Xmrig(xmrig) => Ok(xmrig.contestant(subject)),
        }
    }

    /// Fails if its hashes differ from ours: comparing speeds would be pointless. XMRig prints none.
    pub(crate) fn check(
        &mut self,
        subject: &Subject,
        native: &mut Native<'_>,
    ) -> Result<(), Error> {
        let (Subject::Hash(how), Other::Reference(reference)) = (subject, self) else {
            return Ok(());
        };
        let inputs = hashing::inputs(0, 3);
        if let Some(mut vm) = reference.vm(how, native)?
            && vm.hashes(&inputs) != native.vm(how)?.hashes(&inputs)
        {
            return Err(Error::Differs(subject.to_string()));
        }
        Ok(())
    }
}
