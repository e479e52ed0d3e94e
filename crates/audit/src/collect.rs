//! `randomx collect`.

use std::io::Write;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::sync::Arc;

use randomx_epochs::{Epoch, Folder, Links, Local, Manifest, label};

use crate::args::CollectArgs;
use crate::error::Error;
use crate::links::{self, Part};
use crate::progress::Progress;
use crate::remote::Remote;
use crate::table;

/// The key, in a file's metadata, of the ids that link it to its neighbours.
const LINKS: &str = "randomx.links";

/// Reads a range of a chain, or what an earlier run left of it.
pub(crate) fn run(args: &CollectArgs) -> Result<ExitCode, Error> {
    let remote = args.chain.remote()?.ok_or(Error::NoInput)?;
    let tasks = Epoch::within(remote.range(args.chain.from, args.chain.to)?);
    let input = format!("the chain of {}", remote.network());
    let manifest = Manifest { command: "collect".to_owned(), input };
    let folder = Folder::open(Arc::new(Local), &args.output, &manifest)?;
    let parts = || tasks.iter().map(|task| part(&folder, task)).collect::<Result<Vec<Part>, _>>();
    let earlier = parts()?;
    links::check_earlier(&args.output, &earlier, |height| remote.id(height))?;
    let is_left = |(_, part): &(&Task, &Part)| part.links.is_none();
    let left = tasks.iter().zip(&earlier).filter(is_left).map(|(task, _)| task);
    let left: Vec<&Task> = left.collect();
    let blocks = left.iter().map(|(_, heights)| heights.end() - heights.start() + 1).sum();
    let progress = Progress::new(tasks.len(), tasks.len() - left.len(), blocks);
    for (epoch, heights) in left {
        collect(&remote, &folder, epoch, heights)?;
        progress.blocks(heights.end() - heights.start() + 1);
        progress.epoch();
    }
    drop(progress);
    let parts = parts()?;
    if let Some(part) = parts.iter().find(|part| part.links.is_none()) {
        return Err(randomx_epochs::Error::Gone { path: folder.path(&part.file) }.into());
    }
    links::check(&parts)?;
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
    let mut file = folder.create(epoch.file(), table::schema())?;
    file.write(&table::batch(&blocks.rows)?)?;
    let json = serde_json::to_string(&blocks.links).unwrap_or_default();
    Ok(file.finish(&label(heights), LINKS, json)?)
}

/// Returns what the folder has of an epoch.
fn part(folder: &Folder, (epoch, heights): &Task) -> Result<Part, Error> {
    let file = epoch.file();
    let json = folder.done(&file, &label(heights), LINKS)?;
    let links: Option<Links> = json.and_then(|json| serde_json::from_str(&json).ok());
    Ok(Part { file, heights: heights.clone(), links })
}
