/*
 * RandomX, the proof of work of Monero and others: the C API of the reference implementation
 * (tevador/RandomX 2.0), over an implementation in Rust. SPDX-License-Identifier: BSD-3-Clause
 *
 * A key is expanded into a cache of 256 MiB. A virtual machine (VM) hashes with the cache, or,
 * several times as fast, with a dataset of 2080 MiB that is computed from it:
 *
 *     randomx_flags flags = randomx_get_flags();
 *     randomx_cache *cache = randomx_alloc_cache(flags);
 *     randomx_init_cache(cache, key, key_size);
 *     randomx_vm *vm = randomx_create_vm(flags, cache, NULL);
 *     randomx_calculate_hash(vm, input, input_size, hash);
 *
 * Failures. Allocating functions return NULL if memory or a feature that the flags demand is
 * missing. Every pointer may be NULL; unless stated otherwise, the function does nothing then. If a
 * hash cannot be computed (an argument is NULL, no key was set, memory ran out, or the dataset was
 * not computed), all bytes of the output are 0xff, a number that meets no difficulty above 1. The
 * commitment to such an output is all 0xff too. No function unwinds into the caller. No function
 * aborts, with one exception: Rust's allocator ends the process if it cannot get a few kilobytes. Do
 * not cancel a thread (pthread_cancel) while it is in a function.
 *
 * Threads. Any number of threads may use an object at once. A VM computes one hash at a time, so
 * each thread should have its own. Several threads may initialize parts of one dataset. A new key
 * for a cache waits for hashes that use the cache, and new hashes wait for the key.
 *
 * Lifetime. An object must not be used after its release. A cache or dataset may be released
 * while VMs use it; its memory is freed with the last of them. So set or destroy the VMs of a
 * dataset first if there is no memory for two.
 *
 * Fork. Fork while no thread is in a function. In the child, a lock of another thread would never
 * be released, and a function that needs it would wait for ever. A signal handler that interrupts a
 * function must not fork a child that returns to the function: the child may lack its machine code.
 * A child that writes to memory on reserved huge pages needs a free reserved page for each page that
 * it writes. Without one, the system ends it.
 *
 * Every call restores the rounding mode and the rest of the thread's floating point environment.
 * On processors other than x86-64 and AArch64, call functions in the default environment only:
 * in another one, hashes are wrong.
 */

#ifndef RANDOMX_H
#define RANDOMX_H

#include <stddef.h>
#include <stdint.h>

/* The size of a hash and of a commitment, in bytes. */
#define RANDOMX_HASH_SIZE 32
/* The size of a dataset item, in bytes. */
#define RANDOMX_DATASET_ITEM_SIZE 64

/* A prefix of every declaration; define it before including this file if you need one. */
#ifndef RANDOMX_EXPORT
#define RANDOMX_EXPORT
#endif

typedef enum {
  /* Works everywhere. Slowest: programs are interpreted. */
  RANDOMX_FLAG_DEFAULT = 0,
  /* Demands reserved huge pages (Linux: hugetlbfs). Without this flag they are used if there are
   * enough, and transparent huge pages are requested otherwise. */
  RANDOMX_FLAG_LARGE_PAGES = 1,
  /* VM: use AES instructions. */
  RANDOMX_FLAG_HARD_AES = 2,
  /* VM: hash with a dataset. */
  RANDOMX_FLAG_FULL_MEM = 4,
  /* VM: compile programs, and in light mode SuperscalarHash. Cache: compile SuperscalarHash for
   * datasets. */
  RANDOMX_FLAG_JIT = 8,
  /* VM, and cache for datasets, with JIT: code pages are never writable and executable at once, not
   * even at two addresses. Without this flag they never are at the same address. */
  RANDOMX_FLAG_SECURE = 16,
  /* Cache: expand keys with SSSE3 or AVX2. */
  RANDOMX_FLAG_ARGON2_SSSE3 = 32,
  RANDOMX_FLAG_ARGON2_AVX2 = 64,
  RANDOMX_FLAG_ARGON2 = 96,
  /* VM: RandomX v2 instead of v1. Caches and datasets suit both. */
  RANDOMX_FLAG_V2 = 128
} randomx_flags;

typedef struct randomx_dataset randomx_dataset;
typedef struct randomx_cache randomx_cache;
typedef struct randomx_vm randomx_vm;

#if defined(__cplusplus)

#if defined(__cpp_constexpr)
#define RANDOMX_CONSTEXPR constexpr
#else
#define RANDOMX_CONSTEXPR
#endif

inline RANDOMX_CONSTEXPR randomx_flags operator|(randomx_flags a, randomx_flags b) {
  return static_cast<randomx_flags>(static_cast<int>(a) | static_cast<int>(b));
}

inline RANDOMX_CONSTEXPR randomx_flags operator&(randomx_flags a, randomx_flags b) {
  return static_cast<randomx_flags>(static_cast<int>(a) & static_cast<int>(b));
}

inline randomx_flags &operator|=(randomx_flags &a, randomx_flags b) {
  return a = a | b;
}

extern "C" {
#endif

/**
 * Returns the fastest flags for this machine. LARGE_PAGES, FULL_MEM, SECURE and V2 are never
 * among them; add those that you want.
 */
RANDOMX_EXPORT randomx_flags randomx_get_flags(void);

/**
 * Allocates a cache without a key.
 *
 * @param flags LARGE_PAGES, JIT, SECURE, ARGON2_SSSE3 and ARGON2_AVX2 are used, others ignored.
 * @return NULL if 256 MiB, or a feature that the flags demand, is missing. Executable memory is not
 *         among these features: without it, a cache with JIT computes items without machine code.
 */
RANDOMX_EXPORT randomx_cache *randomx_alloc_cache(randomx_flags flags);

/**
 * Expands a key, which takes a fraction of a second. Does nothing if the cache has this key
 * already. VMs of this cache hash with the new key from then on. If memory runs out, the cache has no
 * key afterwards; call it again.
 *
 * @param key may be NULL if keySize is 0. The empty key is valid.
 */
RANDOMX_EXPORT void randomx_init_cache(randomx_cache *cache, const void *key, size_t keySize);

/** Returns the address of the cache's 256 MiB. It is the same until the release. */
RANDOMX_EXPORT void *randomx_get_cache_memory(randomx_cache *cache);

/** Releases a cache. */
RANDOMX_EXPORT void randomx_release_cache(randomx_cache *cache);

/**
 * Allocates a dataset of zeros. It gives no hashes until some of its items are computed or
 * randomx_get_dataset_memory returns its address.
 *
 * @param flags LARGE_PAGES is used, others ignored.
 * @return NULL if 2080 MiB, or such pages, are missing, and always in 32-bit programs.
 */
RANDOMX_EXPORT randomx_dataset *randomx_alloc_dataset(randomx_flags flags);

/** Returns the number of items in a dataset. */
RANDOMX_EXPORT unsigned long randomx_dataset_item_count(void);

/**
 * Computes itemCount items of the cache's key, from startItem on, without those past the end.
 * Threads may compute different parts at once. VMs wait meanwhile.
 *
 * If the items cannot be computed, because the cache is NULL or has no key, or memory ran out, the
 * dataset gives no hashes until later calls have computed all of them. These may split the items
 * differently.
 */
RANDOMX_EXPORT void randomx_init_dataset(randomx_dataset *dataset, randomx_cache *cache,
                                         unsigned long startItem, unsigned long itemCount);

/**
 * Returns the address of the items. It is the same until the release. You may write items there
 * while no other function uses the dataset.
 */
RANDOMX_EXPORT void *randomx_get_dataset_memory(randomx_dataset *dataset);

/** Releases a dataset. */
RANDOMX_EXPORT void randomx_release_dataset(randomx_dataset *dataset);

/**
 * Creates a VM.
 *
 * @param flags LARGE_PAGES, HARD_AES, FULL_MEM, JIT, SECURE and V2 are used, others ignored.
 * @param cache   is required without FULL_MEM, and ignored otherwise.
 * @param dataset is required with FULL_MEM, and ignored otherwise.
 * @return NULL if the required one is NULL, or if 2 MiB, or a feature that the flags demand, is
 *         missing.
 */
RANDOMX_EXPORT randomx_vm *randomx_create_vm(randomx_flags flags, randomx_cache *cache,
                                             randomx_dataset *dataset);

/**
 * Sets the cache of a VM. Does nothing for a VM with FULL_MEM. If the cache is NULL, the VM keeps the
 * previous one, and hashes with its key.
 */
RANDOMX_EXPORT void randomx_vm_set_cache(randomx_vm *machine, randomx_cache *cache);

/**
 * Sets the dataset of a VM. Does nothing for a VM without FULL_MEM. If the dataset is NULL, the VM keeps
 * the previous one.
 */
RANDOMX_EXPORT void randomx_vm_set_dataset(randomx_vm *machine, randomx_dataset *dataset);

/** Releases a VM. */
RANDOMX_EXPORT void randomx_destroy_vm(randomx_vm *machine);

/**
 * Computes the hash of an input.
 *
 * @param input  may be NULL if inputSize is 0.
 * @param output RANDOMX_HASH_SIZE bytes.
 */
RANDOMX_EXPORT void randomx_calculate_hash(randomx_vm *machine, const void *input,
                                           size_t inputSize, void *output);

/**
 * Compute the hashes of a series of inputs, a little faster than one by one. `first` begins with an
 * input, `next` returns the previous hash and begins with another input, and `last` returns the last
 * hash. Inputs are not read after a call returns. If the VM gets another key in between, the hash that has
 * begun is finished with the new key. randomx_calculate_hash on the same VM ends a
 * series, and so does a call that fails (an input is NULL, or there is no key): `next` and `last` write
 * 0xff then, until `first` begins another series.
 */
RANDOMX_EXPORT void randomx_calculate_hash_first(randomx_vm *machine, const void *input,
                                                 size_t inputSize);
RANDOMX_EXPORT void randomx_calculate_hash_next(randomx_vm *machine, const void *nextInput,
                                                size_t nextInputSize, void *output);
RANDOMX_EXPORT void randomx_calculate_hash_last(randomx_vm *machine, void *output);

/**
 * Computes the commitment to an input and its hash. Chains with v2 compare it with their target,
 * since it can be checked in microseconds.
 *
 * @param hash_in RANDOMX_HASH_SIZE bytes. If all are 0xff, there was no hash, and all bytes of com_out
 *                become 0xff.
 * @param com_out RANDOMX_HASH_SIZE bytes; may be hash_in.
 */
RANDOMX_EXPORT void randomx_calculate_commitment(const void *input, size_t inputSize,
                                                 const void *hash_in, void *com_out);

#if defined(__cplusplus)
}
#endif

#endif
