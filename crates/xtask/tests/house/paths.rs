//! The paths that Rust files name, as far as they lead to other modules of the same crate.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, Macro, UseTree};

use crate::files;

/// A path from the root of a crate, without `crate`.
pub(crate) type ModulePath = Vec<String>;

/// A file of a crate.
pub(crate) struct Module {
    /// Its path from the root of the repository.
    pub(crate) file: String,
    /// The paths that its code names, without those of its tests. Some end in an item of a module.
    pub(crate) used: BTreeSet<ModulePath>,
}

/// Parses the files below a crate's folder `src`.
pub(crate) fn modules(src: &str) -> BTreeMap<ModulePath, Module> {
    let files = files::with_extensions(src, &["rs"]);
    let module_of = |file: &str| -> ModulePath {
        let inside = file.strip_prefix(src).unwrap_or(file).trim_start_matches('/');
        let parts = inside.trim_end_matches(".rs").split('/').map(str::to_owned);
        parts.filter(|part| !["lib", "main", "mod"].contains(&part.as_str())).collect()
    };
    let known: BTreeSet<ModulePath> = files.iter().map(|file| module_of(&file.path)).collect();
    let mut modules = BTreeMap::new();
    for file in files {
        let syntax = syn::parse_file(&file.text).unwrap_or_else(|error| {
            panic!("{}: {error}", file.path);
        });
        let path = module_of(&file.path);
        let mut collector =
            Collector { module: path.clone(), known: &known, used: BTreeSet::new() };
        if !is_for_tests(&syntax.attrs) && path.last().is_none_or(|name| name != "tests") {
            collector.visit_file(&syntax);
        }
        modules.insert(path, Module { file: file.path, used: collector.used });
    }
    modules
}

/// Returns the longest part of a path that is the path of a file.
pub(crate) fn file_of<'a>(
    modules: &BTreeMap<ModulePath, Module>,
    path: &'a [String],
) -> Option<&'a [String]> {
    (0..=path.len()).rev().map(|length| &path[..length]).find(|part| modules.contains_key(*part))
}

struct Collector<'a> {
    /// The module in progress.
    module: ModulePath,
    /// Modules that are files.
    known: &'a BTreeSet<ModulePath>,
    used: BTreeSet<ModulePath>,
}

impl Collector<'_> {
    /// Adds a path if it leads to this crate: from `crate`, `self`, `super`, or a module below.
    fn add(&mut self, path: &[String]) {
        let mut resolved = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            Some(name) => {
                let child = [&self.module[..], &[name.to_owned()]].concat();
                if !self.known.contains(&child) {
                    return;
                }
                self.module.clone()
            }
            None => return,
        };
        for name in path {
            match name.as_str() {
                "crate" | "self" => {}
                "super" => {
                    resolved.pop();
                }
                _ => resolved.push(name.clone()),
            }
        }
        self.used.insert(resolved);
    }

    fn add_tree(&mut self, prefix: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) => self.add(&with(&name.ident)),
            UseTree::Rename(rename) => self.add(&with(&rename.ident)),
            UseTree::Glob(_) => self.add(prefix),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_tree(prefix, tree);
                }
            }
        }
    }

    /// Adds the paths in a macro's tokens, which no parser understands.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.add(&std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.add(&std::mem::take(&mut path));
                    self.add_tokens(group.stream());
                    colons = 0;
                }
                _ => {
                    self.add(&std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.add(&path);
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if is_for_tests(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.add_tree(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.add(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.add_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

/// Whether `#[cfg(test)]` is among attributes.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut tests = false;
        if attribute.path().is_ident("cfg") {
            let found = attribute.parse_nested_meta(|meta| {
                tests |= meta.path.is_ident("test");
                Ok(())
            });
            tests &= found.is_ok();
        }
        tests
    })
}

#[test]
fn paths_are_resolved() {
    let code = "use crate::{cache::{Cache, Line}, params}; use super::vm::Vm; use std::fs;
        mod inner { use super::Thing; }
        fn f() { crate::aes::f(); child::g(); assert!(super::pool::h(crate::jit::X)); }
        #[cfg(test)] mod tests { use crate::trace; }";
    let known = [vec!["dataset".to_owned(), "child".to_owned()]].into();
    let module = vec!["dataset".to_owned()];
    let mut collector = Collector { module, known: &known, used: BTreeSet::new() };
    collector.visit_file(&syn::parse_file(code).expect("Rust code"));
    let used: Vec<String> = collector.used.iter().map(|path| path.join("::")).collect();
    let expected = [
        "aes::f",
        "cache::Cache",
        "cache::Line",
        "dataset::Thing",
        "dataset::child::g",
        "jit::X",
        "params",
        "pool::h",
        "vm::Vm",
    ];
    assert_eq!(used, expected);
}
