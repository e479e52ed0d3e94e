//! Blocks from pages of the system's allocator.

use std::alloc::{GlobalAlloc, Layout, alloc};
use std::collections::BTreeMap;

use super::{Heap, PAGE};

fn pages(count: usize) -> Option<*mut u8> {
    let layout = Layout::from_size_align(count * PAGE, PAGE).expect("a layout");
    if count > 1000 {
        return None;
    }
    // SAFETY: the size is not zero.
    Some(unsafe { alloc(layout) })
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a layout")
}

/// Fills each block with its own number, through allocations, releases and changes of size.
#[test]
fn blocks_never_overlap() {
    let heap = Heap::new(pages);
    let mut blocks: BTreeMap<usize, (*mut u8, Layout, u8)> = BTreeMap::new();
    let mut random = 1_u64;
    for step in 0..20_000_usize {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let number = (random >> 33) as usize;
        let wanted = layout(1 + number % (1 << (number % 18)), 1 << (number % 7));
        let key = number % 64;
        // SAFETY: each block is used with the layout that it was allocated with, within its size.
        unsafe {
            let block = match blocks.remove(&key) {
                None => heap.alloc(wanted),
                Some((block, old, mark)) => {
                    let bytes = std::slice::from_raw_parts(block, old.size());
                    assert!(bytes.iter().all(|&byte| byte == mark), "step {step}");
                    if number.is_multiple_of(3) {
                        heap.dealloc(block, old);
                        continue;
                    }
                    let wanted = layout(wanted.size(), old.align());
                    let moved = heap.realloc(block, old, wanted.size());
                    let kept = old.size().min(wanted.size());
                    let bytes = std::slice::from_raw_parts(moved, kept);
                    assert!(bytes.iter().all(|&byte| byte == mark), "step {step}");
                    heap.dealloc(moved, wanted);
                    continue;
                }
            };
            assert!(block.addr().is_multiple_of(wanted.align()), "step {step}");
            block.write_bytes(step as u8, wanted.size());
            blocks.insert(key, (block, wanted, step as u8));
        }
    }
}

#[test]
fn a_freed_block_is_used_again() {
    let heap = Heap::new(pages);
    // SAFETY: the block is freed with its layout.
    unsafe {
        let block = heap.alloc(layout(100, 8));
        heap.dealloc(block, layout(100, 8));
        assert_eq!(heap.alloc(layout(128, 64)), block);
        assert_ne!(heap.alloc(layout(128, 64)), block);
    }
}

#[test]
fn too_much_is_refused() {
    let heap = Heap::new(pages);
    // SAFETY: the sizes are not zero.
    unsafe {
        assert!(heap.alloc(layout(1 << 30, 1)).is_null(), "no pages");
        assert!(heap.alloc(layout(isize::MAX as usize, 1)).is_null(), "no such size");
        assert!(heap.alloc(layout(1, 4096)).is_null(), "no such alignment");
        assert!(!heap.alloc(layout(PAGE, 1)).is_null(), "less is there");
    }
}
