//! The argument `--start`, and the stored state that takes its place.

use std::{
    io,
    path::{Path, PathBuf},
};

use randomx_client::state_file;
use randomx_monero::{
    Hash,
    client::{Client, Start},
};

use crate::{chain::CheckpointFile, error::Error};

/// The checkpoint of `--start` if a run begins with a stored state instead.
pub(crate) struct Unused {
    file: PathBuf,
    state: PathBuf,
    height: u64,
    id: Hash,
}

/// Returns where a run without a stored state begins, and the checkpoint that a stored one replaces.
pub(crate) fn start(
    file: Option<&Path>,
    store: Option<&Path>,
) -> Result<(Start, Option<Unused>), Error> {
    let Some(file) = file else { return Ok((Start::Anchors, None)) };
    let absent = || io::Error::from(io::ErrorKind::NotFound);
    let checkpoint = CheckpointFile::new(file).read()?;
    let checkpoint =
        checkpoint.ok_or_else(|| Error::Read { file: file.to_owned(), problem: absent() })?;
    let state = store.map(state_file).filter(|state| state.exists());
    let (height, id) = (checkpoint.height, checkpoint.id);
    let unused = state.map(|state| Unused { file: file.to_owned(), state, height, id });
    Ok((Start::Checkpoint(checkpoint), unused))
}

/// Passes to `note` that `client` began before the end of the stored chain.
pub(crate) fn note_dropped(client: &Client, note: impl Fn(&Error)) {
    if let (Some(height), Some(tip)) = (client.dropped_from(), client.tip()) {
        note(&Error::DroppedBlocks { height, tip: tip.height });
    }
}

impl Unused {
    /// Passes to `note` that `client` began with the stored state.
    ///
    /// # Errors
    ///
    /// If the stored chain has another block at the checkpoint's height.
    pub(crate) fn report(&self, client: &Client, note: impl Fn(&Error)) -> Result<(), Error> {
        let base = client.base();
        let blocks = client.kept().map(|block| (block.height, block.id));
        let stored = blocks.chain([(base.height, base.id)]).find(|block| block.0 == self.height);
        let (file, state) = (self.file.clone(), self.state.clone());
        match stored {
            Some((height, id)) if id != self.id => {
                let [stored, given] = [id, self.id].map(hex::encode);
                Err(Error::OtherStart { file, state, height, stored, given })
            }
            _ => {
                note(&Error::UnusedStart { file, state });
                Ok(())
            }
        }
    }
}
