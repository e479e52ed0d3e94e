/* Calls that the reference leaves undefined and this header defines. */

#include <fenv.h>
#include <pthread.h>
#include <randomx.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

typedef struct {
  unsigned char bytes[RANDOMX_HASH_SIZE];
} Hash;

static const char first_key[] = "first", second_key[] = "second", input[] = "an input";
static Hash first_hash, second_hash, none;
/* The value before a call. No hash here has it. */
static const Hash unset;

static int same(Hash a, Hash b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static Hash hash_of(randomx_vm *vm, const void *data, size_t size) {
  Hash hash = unset;
  randomx_calculate_hash(vm, data, size, &hash);
  return hash;
}

static Hash hash_with(randomx_vm *vm) {
  return hash_of(vm, input, sizeof input);
}

static Hash next(randomx_vm *vm, const void *data, size_t size) {
  Hash hash = unset;
  randomx_calculate_hash_next(vm, data, size, &hash);
  return hash;
}

static Hash last(randomx_vm *vm) {
  Hash hash = unset;
  randomx_calculate_hash_last(vm, &hash);
  return hash;
}

static Hash commitment(const void *data, const Hash *to) {
  Hash hash = unset;
  randomx_calculate_commitment(data, 1, to, &hash);
  return hash;
}

static randomx_cache *cache_of(const char *key) {
  randomx_cache *cache = randomx_alloc_cache(randomx_get_flags());
  CHECK(cache != NULL);
  if (key != NULL)
    randomx_init_cache(cache, key, strlen(key));
  return cache;
}

static void nulls(void) {
  randomx_init_cache(NULL, input, 1);
  CHECK(randomx_get_cache_memory(NULL) == NULL);
  randomx_release_cache(NULL);
  randomx_init_dataset(NULL, NULL, 0, 1);
  CHECK(randomx_get_dataset_memory(NULL) == NULL);
  randomx_release_dataset(NULL);
  CHECK(randomx_create_vm(RANDOMX_FLAG_DEFAULT, NULL, NULL) == NULL);
  CHECK(randomx_create_vm(RANDOMX_FLAG_FULL_MEM, NULL, NULL) == NULL);
  randomx_vm_set_cache(NULL, NULL);
  randomx_vm_set_dataset(NULL, NULL);
  randomx_destroy_vm(NULL);
  randomx_calculate_hash_first(NULL, input, 1);
  CHECK(same(hash_of(NULL, input, 1), none));
  CHECK(same(next(NULL, input, 1), none));
  CHECK(same(last(NULL), none));
  CHECK(same(commitment(NULL, &none), none));
  CHECK(same(commitment(input, NULL), none));
  randomx_calculate_commitment(input, 1, &none, NULL);
  /* Nobody can find work with hashes that fail. */
  CHECK(same(commitment(input, &none), none));
  Hash hash = none;
  randomx_calculate_commitment(input, 1, &hash, &hash);
  CHECK(same(hash, none));
}

static void nulls_to_a_vm(void) {
  randomx_cache *cache = cache_of(first_key);
  randomx_vm *vm = randomx_create_vm(randomx_get_flags(), cache, NULL);
  randomx_calculate_hash(vm, input, sizeof input, NULL);
  CHECK(same(hash_of(vm, NULL, 1), none));
  CHECK(same(hash_of(vm, input, SIZE_MAX), none));
  Hash empty = hash_of(vm, NULL, 0);
  CHECK(!same(empty, none) && !same(empty, unset));
  randomx_init_cache(cache, NULL, 1);
  randomx_vm_set_cache(vm, NULL);
  randomx_vm_set_dataset(vm, NULL);
  CHECK(same(hash_with(vm), first_hash));
  /* Output and input may overlap. */
  char both[RANDOMX_HASH_SIZE] = {0};
  memcpy(both, input, sizeof input);
  randomx_calculate_hash(vm, both, sizeof input, both);
  CHECK(memcmp(both, &first_hash, sizeof both) == 0);
  randomx_destroy_vm(vm);
  randomx_release_cache(cache);
}

static void keys_change(void) {
  randomx_cache *cache = cache_of(NULL);
  void *memory = randomx_get_cache_memory(cache);
  randomx_vm *vm = randomx_create_vm(randomx_get_flags(), cache, NULL);
  CHECK(memory != NULL && vm != NULL);
  CHECK(same(hash_with(vm), none));
  randomx_init_cache(cache, first_key, strlen(first_key));
  CHECK(same(hash_with(vm), first_hash));
  randomx_init_cache(cache, second_key, strlen(second_key));
  CHECK(same(hash_with(vm), second_hash));
  CHECK(randomx_get_cache_memory(cache) == memory);
  randomx_release_cache(cache);
  CHECK(same(hash_with(vm), second_hash));
  randomx_destroy_vm(vm);
}

/* Nothing returns the hash of an input before a failed call. */
static void expect_no_series(randomx_vm *vm) {
  CHECK(same(next(vm, input, sizeof input), none));
  CHECK(same(last(vm), none));
}

static void failures_end_a_series(void) {
  randomx_cache *cache = cache_of(NULL);
  randomx_vm *vm = randomx_create_vm(randomx_get_flags(), cache, NULL);
  /* Without a key. */
  randomx_calculate_hash_first(vm, input, sizeof input);
  CHECK(same(next(vm, input, sizeof input), none));
  randomx_init_cache(cache, first_key, strlen(first_key));
  expect_no_series(vm);
  /* Without an input. */
  randomx_calculate_hash_first(vm, input, sizeof input);
  CHECK(same(next(vm, NULL, 1), none));
  CHECK(same(last(vm), none));
  randomx_calculate_hash_first(vm, input, sizeof input);
  randomx_calculate_hash_first(vm, NULL, 1);
  expect_no_series(vm);
  randomx_calculate_hash_first(vm, input, sizeof input);
  CHECK(same(hash_of(vm, NULL, 1), none));
  expect_no_series(vm);
  /* The next series is not affected. */
  randomx_calculate_hash_first(vm, input, sizeof input);
  CHECK(same(next(vm, input, sizeof input), first_hash));
  CHECK(same(last(vm), first_hash));
  randomx_destroy_vm(vm);
  randomx_release_cache(cache);
}

static void incomplete_series(void) {
  randomx_cache *cache = cache_of(first_key);
  randomx_vm *vm = randomx_create_vm(randomx_get_flags(), cache, NULL);
  CHECK(same(last(vm), none));
  CHECK(same(next(vm, input, sizeof input), none));
  randomx_calculate_hash_first(vm, input, sizeof input);
  CHECK(same(hash_with(vm), first_hash));
  CHECK(same(last(vm), none));
  /* After a change of key, the series uses the new key. */
  randomx_calculate_hash_first(vm, input, sizeof input);
  randomx_init_cache(cache, second_key, strlen(second_key));
  CHECK(same(last(vm), second_hash));
  /* A series that is begun and never finished. */
  randomx_calculate_hash_first(vm, input, sizeof input);
  randomx_release_cache(cache);
  randomx_destroy_vm(vm);
}

/* The caller's rounding mode does not affect a hash. A hash does not change it, nor set the flags of exceptions. */
static void rounding_modes(void) {
  static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
  randomx_flags both[] = {RANDOMX_FLAG_DEFAULT, randomx_get_flags()};
  randomx_cache *cache = cache_of(first_key);
  for (size_t way = 0; way < 2; way++) {
    randomx_vm *vm = randomx_create_vm(both[way], cache, NULL);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
      feclearexcept(FE_ALL_EXCEPT);
      CHECK(fesetround(modes[i]) == 0);
      CHECK(same(hash_with(vm), first_hash));
      CHECK(fegetround() == modes[i]);
      randomx_calculate_hash_first(vm, input, sizeof input);
      CHECK(fegetround() == modes[i]);
      CHECK(same(next(vm, input, sizeof input), first_hash) && fegetround() == modes[i]);
      CHECK(same(last(vm), first_hash) && fegetround() == modes[i]);
      CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
    }
    randomx_destroy_vm(vm);
  }
  randomx_release_cache(cache);
}

static void flags_of_all_kinds(void) {
  randomx_cache *cache = cache_of(first_key);
  for (int bits = 0; bits < 256; bits++) {
    randomx_vm *vm = randomx_create_vm((randomx_flags)bits, cache, NULL);
    CHECK(vm == NULL || (bits & RANDOMX_FLAG_FULL_MEM) == 0);
    /* Skips the flags of caches, which change nothing, and the slow interpreter. */
    int counts = RANDOMX_FLAG_V2 | RANDOMX_FLAG_JIT | RANDOMX_FLAG_LARGE_PAGES;
    if (vm != NULL && (bits & counts) == RANDOMX_FLAG_JIT)
      CHECK(same(hash_with(vm), first_hash));
    randomx_destroy_vm(vm);
  }
  randomx_cache *large = randomx_alloc_cache(RANDOMX_FLAG_LARGE_PAGES);
  if (large != NULL)
    memset(randomx_get_cache_memory(large), 1, 256 << 20);
  randomx_release_cache(large);
  randomx_release_cache(cache);
}

static void *hash_often(void *vm) {
  for (int i = 0; i < 10; i++) {
    Hash hash = hash_with(vm);
    CHECK(same(hash, first_hash) || same(hash, second_hash));
  }
  return NULL;
}

/* Two threads share a VM and another has its own, while keys change. */
static void threads(void) {
  randomx_cache *cache = cache_of(first_key);
  randomx_vm *vm = randomx_create_vm(randomx_get_flags(), cache, NULL);
  randomx_vm *other = randomx_create_vm(randomx_get_flags(), cache, NULL);
  randomx_vm *vms[] = {vm, vm, other};
  pthread_t running[3];
  for (int i = 0; i < 3; i++)
    CHECK(pthread_create(&running[i], NULL, hash_often, vms[i]) == 0);
  for (int i = 0; i < 4; i++) {
    const char *key = i % 2 == 0 ? second_key : first_key;
    randomx_init_cache(cache, key, strlen(key));
  }
  randomx_release_cache(cache);
  for (int i = 0; i < 3; i++)
    CHECK(pthread_join(running[i], NULL) == 0);
  randomx_destroy_vm(vm);
  randomx_destroy_vm(other);
}

int main(void) {
  memset(&none, 0xff, sizeof none);
  randomx_cache *first = cache_of(first_key), *second = cache_of(second_key);
  randomx_vm *vm = randomx_create_vm(randomx_get_flags(), first, NULL);
  first_hash = hash_with(vm);
  randomx_vm_set_cache(vm, second);
  second_hash = hash_with(vm);
  CHECK(!same(first_hash, second_hash) && !same(first_hash, none));
  randomx_destroy_vm(vm);
  randomx_release_cache(first);
  randomx_release_cache(second);

  nulls();
  nulls_to_a_vm();
  keys_change();
  incomplete_series();
  failures_end_a_series();
  rounding_modes();
  flags_of_all_kinds();
  threads();
  puts("all checks passed");
  return 0;
}
