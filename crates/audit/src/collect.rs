//! `randomx collect`.

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use randomx_epochs::{Epoch, Folder, Held, Links, Local, Manifest, State, contains, label, linked};

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
    let find = |task| Files { folder: &folder, path: &args.output, remote: &remote }.part(task);
    let parts = || tasks.iter().map(find).collect::<Result<Vec<Part>, _>>();
    let earlier = parts()?;
    links::check_earlier(&args.output, &earlier, |height| remote.id(height))?;
    let difficulties = |heights: &RangeInclusive<u64>| remote.difficulties_of(heights);
    links::check_difficulties((&folder, &args.output), &earlier, difficulties)?;
    let is_left = |(_, part): &(&Task, &Part)| part.links.is_none();
    let left: Vec<(&Task, &Part)> = tasks.iter().zip(&earlier).filter(is_left).collect();
    let count = |part: &Part| part.heights.end() - part.heights.start() + 1;
    let blocks = left.iter().map(|(_, part)| count(part)).sum();
    let progress = Progress::new(tasks.len(), tasks.len() - left.len(), blocks);
    for (_, part) in left {
        collect(&remote, &folder, &args.output, part)?;
        progress.blocks(count(part));
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

/// An epoch, and the blocks of it that a run asks for.
type Task = (Epoch, RangeInclusive<u64>);

/// Reads the blocks of an epoch and writes its file.
fn collect(remote: &Remote, folder: &Folder, path: &Path, part: &Part) -> Result<(), Error> {
    let Part { file, heights, previous, .. } = part;
    let blocks = remote.blocks(heights.clone())?;
    if let Some(previous) = previous {
        links::check_previous(&blocks.rows, previous, (path, file))?;
    }
    let mut file = folder.create(file.clone(), table::schema())?;
    file.write(&table::batch(&blocks.rows)?)?;
    let json = serde_json::to_string(&blocks.links).unwrap_or_default();
    Ok(file.finish(&label(heights), &[(LINKS, &json)])?)
}

/// The files of a folder, and the chain that they are to be of.
struct Files<'a> {
    folder: &'a Folder,
    path: &'a Path,
    remote: &'a Remote,
}

impl Files<'_> {
    /// Returns what the folder has of an epoch, up to the last block that the run asks for. If blocks are
    /// missing, returns all that the file must have in the end: no block that it has is lost.
    fn part(&self, (epoch, asked): &Task) -> Result<Part, Error> {
        let file = epoch.file();
        let Some(held) = self.folder.held(&file, LINKS)? else {
            return Ok(Part { file, heights: asked.clone(), links: None, previous: None });
        };
        let Some(blocks) = held.blocks(epoch) else { return self.replaced(epoch, asked) };
        if contains(&blocks, asked)
            && let Some(links) = self.links(&file, &held, &blocks, *asked.end())?
        {
            let heights = *blocks.start()..=*asked.end();
            return Ok(Part { file, heights, links: Some(links), previous: None });
        }
        let last = *blocks.end().max(asked.end());
        if last > *asked.end() {
            let tip = self.remote.tip()?;
            if last > tip {
                let (folder, [held, asked]) = (self.path.to_owned(), [&blocks, asked].map(label));
                return Err(Error::Behind { folder, file, held, asked, last, tip });
            }
        }
        let heights = *blocks.start().min(asked.start())..=last;
        let links = self.links(&file, &held, &blocks, *blocks.end())?;
        let previous = links.map(|links| (*blocks.start(), links.previous));
        Ok(Part { file, heights, links: None, previous })
    }

    /// Returns the links of a file's blocks up to a height, unless it is damaged.
    fn links(
        &self,
        file: &str,
        held: &Held,
        blocks: &RangeInclusive<u64>,
        last: u64,
    ) -> Result<Option<Links>, Error> {
        let json = held.value.as_deref();
        let Some(links) = json.and_then(|json| serde_json::from_str::<Links>(json).ok()) else {
            return Ok(None);
        };
        // Without a checksum, the blocks themselves have to prove that they are those of the links.
        let is_proven = held.state == State::Intact
            || linked(self.folder, file, *blocks.end())? == Some((blocks.clone(), links.clone()));
        if !is_proven || last == *blocks.end() {
            return Ok(Some(links).filter(|_| is_proven));
        }
        Ok(linked(self.folder, file, last)?.map(|(_, links)| links))
    }

    /// Returns the part that replaces a file whose blocks nobody knows.
    fn replaced(&self, epoch: &Epoch, asked: &RangeInclusive<u64>) -> Result<Part, Error> {
        let file = epoch.file();
        // The genesis block is not collected.
        let all = epoch.heights().map(|heights| (*heights.start()).max(1)..=*heights.end());
        match all.filter(|all| !contains(asked, all)) {
            None => Ok(Part { file, heights: asked.clone(), links: None, previous: None }),
            Some(all) => {
                let (folder, [held, asked]) = (self.path.to_owned(), [&all, asked].map(label));
                Err(Error::Damaged { folder, file, held, asked })
            }
        }
    }
}
