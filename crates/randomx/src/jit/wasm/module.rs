//! WebAssembly modules: imports, functions, variables, exports.

use super::assembler::{Body, Function, Global, Type, unsigned};

/// Builds a module. Imports come before functions.
#[derive(Clone, Debug, Default)]
pub struct Module {
    types: Section,
    imports: Section,
    functions: Section,
    globals: Section,
    exports: Section,
    code: Section,
    /// The number of functions, including imported ones.
    function_count: u32,
}

/// The memory that a module works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The smallest size, in pages of 64 KiB.
    pub minimum: u32,
    /// The largest size, in pages of 64 KiB. A shared memory must have one.
    pub maximum: Option<u32>,
    /// Whether threads share it.
    pub shared: bool,
}

/// A section: the number of entries, and their bytes.
#[derive(Clone, Debug, Default)]
struct Section {
    count: u32,
    bytes: Vec<u8>,
}

/// The kind of an import or export.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Kind {
    Function = 0,
    Memory = 2,
}

impl Module {
    /// Makes an empty module.
    pub fn new() -> Module {
        Module::default()
    }

    /// Imports a memory. A module can import one.
    #[inline(never)]
    pub fn import_memory(&mut self, module: &str, field: &str, memory: Memory) {
        let Memory { minimum, maximum, shared } = memory;
        let bytes = self.import(module, field, Kind::Memory);
        bytes.push(u8::from(maximum.is_some()) | u8::from(shared) << 1);
        unsigned(bytes, minimum.into());
        if let Some(maximum) = maximum {
            unsigned(bytes, maximum.into());
        }
    }

    /// Imports a function.
    #[inline(never)]
    pub fn import_function(
        &mut self,
        module: &str,
        field: &str,
        parameters: &[Type],
        results: &[Type],
    ) -> Function {
        debug_assert_eq!(self.functions.count, 0, "imports come before functions");
        let of = self.function_type(parameters, results);
        unsigned(self.import(module, field, Kind::Function), of.into());
        self.next_function()
    }

    /// Adds a function.
    #[inline(never)]
    pub fn function(&mut self, parameters: &[Type], results: &[Type], body: &Body) -> Function {
        let of = self.function_type(parameters, results);
        unsigned(self.functions.entry(), of.into());
        body.encode(self.code.entry());
        self.next_function()
    }

    /// Adds a mutable vector, which starts as zero.
    pub fn global_vector(&mut self) -> Global {
        let mut zero = Body::new(0);
        zero.v128_const(0);
        self.global(Type::V128, zero)
    }

    /// Adds a mutable integer of 32 bits, which starts as `value`.
    pub fn global_integer(&mut self, value: i32) -> Global {
        let mut constant = Body::new(0);
        constant.i32_const(value);
        self.global(Type::I32, constant)
    }

    #[inline(never)]
    fn global(&mut self, of: Type, mut start: Body) -> Global {
        let index = self.globals.count;
        const MUTABLE: u8 = 1;
        start.end();
        let bytes = self.globals.entry();
        bytes.extend([of as u8, MUTABLE]);
        bytes.extend_from_slice(start.code());
        Global(index)
    }

    /// Exports a function as `name`.
    #[inline(never)]
    pub fn export(&mut self, name: &str, function: Function) {
        let bytes = self.exports.entry();
        text(bytes, name);
        bytes.push(Kind::Function as u8);
        unsigned(bytes, function.0.into());
    }

    /// Returns the encoded module.
    #[inline(never)]
    pub fn finish(&self) -> Vec<u8> {
        let sections = [
            (1, &self.types),
            (2, &self.imports),
            (3, &self.functions),
            (6, &self.globals),
            (7, &self.exports),
        ];
        let mut bytes = Vec::with_capacity(128 + self.code.bytes.len());
        bytes.extend_from_slice(b"\0asm\x01\0\0\0");
        for (id, section) in sections {
            section.encode(id, &mut bytes);
        }
        self.code.encode(10, &mut bytes);
        bytes
    }

    /// Adds a type. Each function has one of its own: functions are few, and equal types are the
    /// same type.
    fn function_type(&mut self, parameters: &[Type], results: &[Type]) -> u32 {
        let index = self.types.count;
        let bytes = self.types.entry();
        bytes.push(0x60);
        for types in [parameters, results] {
            unsigned(bytes, types.len() as u64);
            bytes.extend(types.iter().map(|&of| of as u8));
        }
        index
    }

    fn import(&mut self, module: &str, field: &str, kind: Kind) -> &mut Vec<u8> {
        let bytes = self.imports.entry();
        text(bytes, module);
        text(bytes, field);
        bytes.push(kind as u8);
        bytes
    }

    fn next_function(&mut self) -> Function {
        let function = Function(self.function_count);
        self.function_count += 1;
        function
    }
}

impl Section {
    /// Starts an entry, and returns the buffer to append it to.
    fn entry(&mut self) -> &mut Vec<u8> {
        self.count += 1;
        &mut self.bytes
    }

    fn encode(&self, id: u8, bytes: &mut Vec<u8>) {
        if self.count == 0 {
            return;
        }
        let mut count = Vec::with_capacity(5);
        unsigned(&mut count, self.count.into());
        bytes.push(id);
        unsigned(bytes, (count.len() + self.bytes.len()) as u64);
        bytes.extend_from_slice(&count);
        bytes.extend_from_slice(&self.bytes);
    }
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    unsigned(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}
