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
 * Failures. What allocates returns NULL when there is no memory or when the machine lacks what
 * the flags ask for. All functions take NULL for any pointer, and do nothing then. Where a hash
 * cannot be computed (an argument is NULL, a key was never set), all bytes of the output are
 * 0xff, a number that meets no difficulty. Nothing aborts, and nothing unwinds into the caller.
 *
 * Threads. All objects may be used by any number of threads at once. A VM computes one hash at a
 * time, so each thread should have its own. Several threads may initialize parts of one dataset.
 * A cache that is given a new key waits for the hashes that are computed with it, and these for it.
 *
 * Lifetime. An object must not be used after its release. A cache or dataset may be released
 * while VMs use it: its memory goes with the last of them.
 *
 * The rounding mode and all else of a thread's floating point environment is as before after
 * every call.
 */

#ifndef RANDOMX_H
#define RANDOMX_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a hash and of a commitment. */
#define RANDOMX_HASH_SIZE 32
/* Bytes of an item of the dataset. */
#define RANDOMX_DATASET_ITEM_SIZE 64

/* What stands before each declaration, for those who need something there. */
#ifndef RANDOMX_EXPORT
#define RANDOMX_EXPORT
#endif

typedef enum {
  /* Works everywhere, and is slowest: programs are interpreted. */
  RANDOMX_FLAG_DEFAULT = 0,
  /* Memory on reserved huge pages (Linux: hugetlbfs), or NULL. Without this flag they are taken
   * too if there are enough, and transparent huge pages are asked for otherwise. */
  RANDOMX_FLAG_LARGE_PAGES = 1,
  /* VM: instructions for AES. */
  RANDOMX_FLAG_HARD_AES = 2,
  /* VM: hash with a dataset. */
  RANDOMX_FLAG_FULL_MEM = 4,
  /* VM: compile programs, and in light mode SuperscalarHash. Cache: compute datasets so. */
  RANDOMX_FLAG_JIT = 8,
  /* VM, with JIT: pages of code are never writable and executable, not even at two addresses.
   * Without it they never are at the same address. */
  RANDOMX_FLAG_SECURE = 16,
  /* Cache: a faster expansion of keys for processors with SSSE3 or AVX2. */
  RANDOMX_FLAG_ARGON2_SSSE3 = 32,
  RANDOMX_FLAG_ARGON2_AVX2 = 64,
  RANDOMX_FLAG_ARGON2 = 96,
  /* VM: RandomX v2 instead of v1. A cache or dataset is for both. */
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
 * The flags that are fastest on this machine. LARGE_PAGES, FULL_MEM, SECURE and V2 are never
 * among them: add those that are wanted.
 */
RANDOMX_EXPORT randomx_flags randomx_get_flags(void);

/**
 * Allocates a cache, without a key yet.
 *
 * @param flags LARGE_PAGES, JIT, ARGON2_SSSE3 and ARGON2_AVX2 count.
 * @return NULL if 256 MiB cannot be had, or what the flags ask for.
 */
RANDOMX_EXPORT randomx_cache *randomx_alloc_cache(randomx_flags flags);

/**
 * Expands a key, which takes a fraction of a second. Does nothing if it is the key of before.
 * VMs over this cache hash with the new key from then on.
 *
 * @param key may be NULL if keySize is 0, which is a key too.
 */
RANDOMX_EXPORT void randomx_init_cache(randomx_cache *cache, const void *key, size_t keySize);

/** Where the 256 MiB of the cache are. They stay there until it is released. */
RANDOMX_EXPORT void *randomx_get_cache_memory(randomx_cache *cache);

/** Releases a cache. */
RANDOMX_EXPORT void randomx_release_cache(randomx_cache *cache);

/**
 * Allocates a dataset, of zeros.
 *
 * @param flags LARGE_PAGES counts.
 * @return NULL if 2080 MiB cannot be had, or not on such pages.
 */
RANDOMX_EXPORT randomx_dataset *randomx_alloc_dataset(randomx_flags flags);

/** How many items a dataset has. */
RANDOMX_EXPORT unsigned long randomx_dataset_item_count(void);

/**
 * Computes so many items of the key that the cache has, from startItem on. Threads may compute
 * different parts at once. Items past the last are left out, and VMs wait meanwhile. Does
 * nothing if the cache has no key.
 */
RANDOMX_EXPORT void randomx_init_dataset(randomx_dataset *dataset, randomx_cache *cache,
                                         unsigned long startItem, unsigned long itemCount);

/** Where the items are. They stay there until the dataset is released. */
RANDOMX_EXPORT void *randomx_get_dataset_memory(randomx_dataset *dataset);

/** Releases a dataset. */
RANDOMX_EXPORT void randomx_release_dataset(randomx_dataset *dataset);

/**
 * Creates a VM.
 *
 * @param flags LARGE_PAGES, HARD_AES, FULL_MEM, JIT, SECURE and V2 count.
 * @param cache   is needed without FULL_MEM, and not looked at otherwise.
 * @param dataset is needed with FULL_MEM, and not looked at otherwise.
 * @return NULL if the one that is needed is, if 2 MiB cannot be had, or what the flags ask for.
 */
RANDOMX_EXPORT randomx_vm *randomx_create_vm(randomx_flags flags, randomx_cache *cache,
                                             randomx_dataset *dataset);

/** Hashes with this cache from now on. A VM with FULL_MEM does nothing. */
RANDOMX_EXPORT void randomx_vm_set_cache(randomx_vm *machine, randomx_cache *cache);

/** Hashes with this dataset from now on. A VM without FULL_MEM does nothing. */
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
 * Hash a series of inputs, a little faster than one by one: begin with the first input, then
 * take each hash while the next one begins, and take the last hash. Inputs are not read after a
 * call has returned. randomx_calculate_hash on the same VM ends a series.
 */
RANDOMX_EXPORT void randomx_calculate_hash_first(randomx_vm *machine, const void *input,
                                                 size_t inputSize);
RANDOMX_EXPORT void randomx_calculate_hash_next(randomx_vm *machine, const void *nextInput,
                                                size_t nextInputSize, void *output);
RANDOMX_EXPORT void randomx_calculate_hash_last(randomx_vm *machine, void *output);

/**
 * Computes the commitment to an input and its hash: what chains with v2 compare with their
 * target, since it is checked in microseconds.
 *
 * @param hash_in RANDOMX_HASH_SIZE bytes.
 * @param com_out RANDOMX_HASH_SIZE bytes; may be hash_in.
 */
RANDOMX_EXPORT void randomx_calculate_commitment(const void *input, size_t inputSize,
                                                 const void *hash_in, void *com_out);

#if defined(__cplusplus)
}
#endif

#endif
