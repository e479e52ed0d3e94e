//! `randomx collect`.

use std::io::Write;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::sync::Arc;

use randomx_epochs::{Epoch, Folder, Local, Manifest, label};
use randomx_monero::Hash;
use serde::{Deserialize, Serialize};

use crate::args::CollectArgs;
use crate::error::Error;
use crate::progress::Progress;
use crate::remote::Remote;
use crate::table;

/// The key, in a file's metadata, of the ids that link it to its neighbours.
const LINKS: &str = "randomx.links";

/// The ids that link an epoch to the ones before and after it.
#[derive(Serialize, Deserialize)]
struct Links {
    #[serde(with = "hex")]
    previous: Hash,
    #[serde(with = "hex")]
    last: Hash,
}

/// Reads a range of a chain, or what an earlier run left of it.
pub(crate) fn run(args: &CollectArgs) -> Result<ExitCode, Error> {
    let remote = args.chain.remote().ok_or(Error::NoInput)?;
    let tasks = Epoch::within(remote.range(args.chain.from, args.chain.to)?);
    let input = format!("the chain of {}", remote.network());
    let manifest = Manifest { command: "collect".to_owned(), input };
    let folder = Folder::open(Arc::new(Local), &args.output, &manifest)?;
    let is_left = |(epoch, heights): &&Task| links(&folder, epoch, heights).is_none();
    let left: Vec<&Task> = tasks.iter().filter(is_left).collect();
    let blocks = left.iter().map(|(_, heights)| heights.end() - heights.start() + 1).sum();
    let progress = Progress::new(tasks.len(), tasks.len() - left.len(), blocks);
    for (epoch, heights) in left {
        collect(&remote, &folder, epoch, heights)?;
        progress.blocks(heights.end() - heights.start() + 1);
        progress.epoch();
    }
    drop(progress);
    check_links(&folder, &tasks)?;
    if let (Some((_, first)), Some((_, last))) = (tasks.first(), tasks.last()) {
        let (epochs, first, last) = (tasks.len(), first.start(), last.end());
        let result =
            |out: &mut dyn Write| writeln!(out, "{epochs} epochs, blocks {first} to {last}");
        randomx_console::write_while_read(result).map_err(Error::Output)?;
    }
    Ok(ExitCode::SUCCESS)
}

type Task = (Epoch, RangeInclusive<u64>);

/// Reads the blocks of an epoch and writes its file.
fn collect(
    remote: &Remote,
    folder: &Folder,
    epoch: &Epoch,
    heights: &RangeInclusive<u64>,
) -> Result<(), Error> {
    let blocks = remote.blocks(heights.clone())?;
    let links = Links { previous: blocks.previous, last: blocks.last };
    let mut file = folder.create(epoch.file(), table::schema())?;
    file.write(&table::batch(&blocks.rows)?)?;
    let json = serde_json::to_string(&links).unwrap_or_default();
    Ok(file.finish(&label(heights), LINKS, json)?)
}

/// Returns the links of an epoch, if it is done.
fn links(folder: &Folder, epoch: &Epoch, heights: &RangeInclusive<u64>) -> Option<Links> {
    let json = folder.done(&epoch.file(), &label(heights), LINKS)?;
    serde_json::from_str(&json).ok()
}

/// Checks that the epochs follow each other: the chain may have changed between two runs.
fn check_links(folder: &Folder, tasks: &[Task]) -> Result<(), Error> {
    let mut before: Option<(Hash, String)> = None;
    for (epoch, heights) in tasks {
        let file = epoch.file();
        let links = links(folder, epoch, heights)
            .ok_or_else(|| randomx_epochs::Error::Gone { path: folder.path(&file) })?;
        if let Some((id, earlier)) = &before
            && *id != links.previous
        {
            let advice = format!("remove {earlier} and {file}, and run the command again");
            return Err(Error::Unlinked { height: *heights.start(), advice });
        }
        before = Some((links.last, file));
    }
    Ok(())
}
