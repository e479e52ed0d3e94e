//! The JavaScript engine as a host: it compiles the modules that the core generates. Rust calls their
//! functions directly.
//!
//! For that they are put into this module's own table of functions, where a function's address is an
//! index. A function that is no longer needed leaves the table, so that its instance can be collected
//! and its place reused.

#![expect(unsafe_code, reason = "calls functions of the table")]

use crate::error::Failure;
use js_sys::WebAssembly::{Instance, Memory, Module, Table};
use js_sys::{Function, Object, Reflect, Uint8Array};
use randomx::Item;
use randomx::engine::Lane;
use randomx::items::ItemSource;
use randomx::jit::wasm::{bridge, cache_memory, host};
use randomx::scratchpad::Scratchpad;
use std::cell::RefCell;
use std::fmt;
use wasm_bindgen::{JsCast, JsValue};

/// Places that are added when the table is full.
const GROWTH: u32 = 16;

thread_local! {
    static TABLE: Table = wasm_bindgen::function_table().unchecked_into();
    static FREE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    /// The imports of programs' modules, and of the bridge between this memory and a cache's.
    static IMPORTS: Object = import("randomx", "memory", &wasm_bindgen::memory());
    static BRIDGE: RefCell<Option<Module>> = const { RefCell::new(None) };
}

/// Compiles a module.
pub(crate) fn compile(bytes: &[u8]) -> Result<Module, Failure> {
    Module::new(&Uint8Array::from(bytes)).map_err(|error| Failure::refused(&error))
}

/// Instantiates a module that imports the memory of a cache, and returns its exports.
pub(crate) fn with_cache(module: &Module, cache: &Memory) -> Result<Object, Failure> {
    instantiate(module, &import("randomx", "cache", cache))
}

/// Returns an export that must be a function.
pub(crate) fn function(exports: &Object, name: &str) -> Result<Function, Failure> {
    let found = Reflect::get(exports, &name.into()).map_err(|error| Failure::refused(&error))?;
    found.dyn_into().map_err(|found| Failure::refused(&found))
}

/// Instantiates a module and returns its exports.
pub(crate) fn instantiate(module: &Module, imports: &Object) -> Result<Object, Failure> {
    match Instance::new(module, imports) {
        Ok(instance) => Ok(instance.exports()),
        Err(error) => Err(Failure::refused(&error)),
    }
}

/// Returns an import object with one entry.
fn import(module: &str, field: &str, value: &JsValue) -> Object {
    let (imports, fields) = (Object::new(), Object::new());
    // Fresh objects take any property.
    let _ = Reflect::set(&fields, &field.into(), value);
    let _ = Reflect::set(&imports, &module.into(), &fields);
    imports
}

/// A function of another module, in this module's table for as long as this value lives.
struct Entry(u32);

impl Entry {
    fn new(function: &Function) -> Option<Entry> {
        let index = FREE.with_borrow_mut(|free| {
            if free.is_empty() {
                let first = TABLE.with(|table| table.grow(GROWTH)).ok()?;
                free.extend((first..first + GROWTH).rev());
            }
            free.pop()
        })?;
        let entry = Entry(index);
        TABLE.with(|table| table.set(index, function)).ok()?;
        Some(entry)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let Entry(index) = *self;
        // A place of this table can hold null.
        let _ = TABLE.with(|table| table.set_raw(index, &JsValue::NULL));
        FREE.with_borrow_mut(|free| free.push(index));
    }
}

/// The JavaScript engine of this thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsHost;

/// The function of a program's module.
pub(crate) struct Program(Entry);

impl host::Host for JsHost {
    type Program = Program;

    fn compile(&self, module: &[u8]) -> Option<Program> {
        let module = compile(module).ok()?;
        let exports = IMPORTS.with(|imports| instantiate(&module, imports)).ok()?;
        Entry::new(&function(&exports, host::EXPORT).ok()?).map(Program)
    }

    fn call(&self, program: &Program, lane: &mut Lane, scratchpad: &mut Scratchpad) {
        let &Program(Entry(index)) = program;
        // SAFETY: A function's address is an index of this module's table. This index holds a
        // function of a program's module, because `program` is alive. The engine checks its type at
        // the call. By the contract of `Host` it reads and writes only these two places.
        unsafe {
            let function: extern "C" fn(*mut Lane, *mut Scratchpad) =
                std::mem::transmute(index as usize);
            function(lane, scratchpad);
        }
    }
}

/// Computes items in the memory of a cache.
pub(crate) struct CacheItems {
    entry: Entry,
    slot: u32,
}

impl CacheItems {
    /// Connects a key's module with the cache of that key. Nobody else may use the slot.
    pub(crate) fn new(module: &Module, cache: &Memory, slot: usize) -> Result<CacheItems, Failure> {
        let items = with_cache(module, cache)?;
        let imports = Object::assign(&Object::new(), &IMPORTS.with(Object::clone));
        let _ = Reflect::set(&imports, &"items".into(), &items);
        let bridge = instantiate(&bridge()?, &imports)?;
        let entry = Entry::new(&function(&bridge, "items")?);
        let entry = entry.ok_or_else(|| {
            Failure::OutOfMemory("no place for a function in the table".to_owned())
        })?;
        Ok(CacheItems { entry, slot: cache_memory::slot(slot) })
    }
}

/// Not derived, because that adds code for formatting numbers to the download.
impl fmt::Debug for CacheItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CacheItems")
    }
}

impl ItemSource for CacheItems {
    fn compute(&self, numbers: &[u32], items: &mut [Item]) {
        assert!(numbers.len() == items.len(), "one item per number");
        let Entry(index) = self.entry;
        // SAFETY: As in `JsHost::call`. This is the function of a bridge, which reads exactly
        // `numbers.len()` numbers and writes as many items.
        unsafe {
            let function: extern "C" fn(u32, *const u32, *mut Item, usize) =
                std::mem::transmute(index as usize);
            function(self.slot, numbers.as_ptr(), items.as_mut_ptr(), numbers.len());
        }
    }
}

/// Compiles the module of bridges once. It is the same for all keys.
fn bridge() -> Result<Module, Failure> {
    BRIDGE.with_borrow_mut(|kept| match kept {
        Some(module) => Ok(module.clone()),
        None => Ok(kept.insert(compile(&bridge::module())?).clone()),
    })
}
