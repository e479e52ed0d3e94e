/*
 * Threads compute overlapping parts of a dataset, some beyond its end, while a VM reads it. Items that
 * cannot be computed leave it without hashes.
 */

#include <pthread.h>
#include <randomx.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

typedef struct {
  randomx_dataset *dataset;
  randomx_cache *cache;
  unsigned long start, count;
} Part;

static void *compute(void *argument) {
  const Part *part = argument;
  for (int i = 0; i < 20; i++)
    randomx_init_dataset(part->dataset, part->cache, part->start, part->count);
  return NULL;
}

static const uint64_t *item(randomx_dataset *dataset, unsigned long number) {
  const uint64_t *items = randomx_get_dataset_memory(dataset);
  return items + number * (RANDOMX_DATASET_ITEM_SIZE / sizeof *items);
}

static unsigned char none[RANDOMX_HASH_SIZE];

static int has_hashes(randomx_vm *vm) {
  unsigned char alone[RANDOMX_HASH_SIZE], series[RANDOMX_HASH_SIZE];
  randomx_calculate_hash(vm, "x", 1, alone);
  randomx_calculate_hash_first(vm, "x", 1);
  randomx_calculate_hash_last(vm, series);
  CHECK(memcmp(alone, series, sizeof alone) == 0);
  return memcmp(alone, none, sizeof alone) != 0;
}

/* If a change of key finds no memory, the cache has no key afterwards. */
static void missing_items(randomx_flags flags, randomx_cache *cache) {
  const unsigned long items = randomx_dataset_item_count();
  randomx_cache *empty = randomx_alloc_cache(flags);
  randomx_dataset *dataset = randomx_alloc_dataset(flags);
  CHECK(empty != NULL && dataset != NULL);
  randomx_vm *vm = randomx_create_vm((randomx_flags)(flags | RANDOMX_FLAG_FULL_MEM), NULL, dataset);
  CHECK(vm != NULL && !has_hashes(vm));
  randomx_init_dataset(dataset, empty, 0, 1000);
  CHECK(!has_hashes(vm));
  randomx_init_dataset(dataset, cache, 0, 1000);
  CHECK(has_hashes(vm));

  randomx_init_dataset(dataset, empty, 0, 0);
  randomx_init_dataset(dataset, empty, items, 1);
  CHECK(has_hashes(vm));
  randomx_init_dataset(dataset, empty, 0, 500);
  randomx_init_dataset(dataset, cache, 500, 500);
  CHECK(randomx_get_dataset_memory(dataset) != NULL);
  CHECK(!has_hashes(vm));
  randomx_init_dataset(dataset, cache, 200, 300);
  CHECK(!has_hashes(vm));
  randomx_init_dataset(dataset, cache, 0, 200);
  CHECK(has_hashes(vm));
  /* As after a failed allocation of a cache. */
  randomx_init_dataset(dataset, NULL, 0, 1000);
  CHECK(!has_hashes(vm));
  randomx_release_dataset(dataset);
  randomx_destroy_vm(vm);

  /* Items may be those of the caller. */
  dataset = randomx_alloc_dataset(flags);
  CHECK(dataset != NULL);
  vm = randomx_create_vm((randomx_flags)(flags | RANDOMX_FLAG_FULL_MEM), NULL, dataset);
  CHECK(vm != NULL && !has_hashes(vm));
  memset(randomx_get_dataset_memory(dataset), 1, RANDOMX_DATASET_ITEM_SIZE);
  CHECK(has_hashes(vm));
  randomx_release_dataset(dataset);
  randomx_destroy_vm(vm);
  randomx_release_cache(empty);
}

int main(void) {
  static const uint64_t zeros[8];
  memset(none, 0xff, sizeof none);
  const unsigned long items = randomx_dataset_item_count();
  CHECK(items == 34078719);
  randomx_flags flags = randomx_get_flags();
  randomx_cache *cache = randomx_alloc_cache(flags);
  randomx_dataset *dataset = randomx_alloc_dataset(flags), *other = randomx_alloc_dataset(flags);
  CHECK(cache != NULL && dataset != NULL && other != NULL);

  randomx_init_dataset(dataset, cache, 0, 10);
  CHECK(memcmp(item(dataset, 0), zeros, sizeof zeros) == 0);
  randomx_init_cache(cache, "parts", 5);
  Part parts[] = {
      {dataset, cache, 0, 3000},
      {dataset, cache, 1000, 3000},
      {dataset, cache, items - 100, 1000},
      {dataset, cache, items, 1},
      {dataset, cache, (unsigned long)-1, (unsigned long)-1},
  };
  enum { PARTS = sizeof parts / sizeof parts[0] };
  pthread_t running[PARTS];
  for (int i = 0; i < PARTS; i++)
    CHECK(pthread_create(&running[i], NULL, compute, &parts[i]) == 0);

  unsigned char hash[RANDOMX_HASH_SIZE];
  randomx_flags fast = (randomx_flags)(flags | RANDOMX_FLAG_FULL_MEM);
  randomx_vm *vm = randomx_create_vm(fast, NULL, dataset);
  CHECK(vm != NULL);
  for (int i = 0; i < 20; i++)
    randomx_calculate_hash(vm, &i, sizeof i, hash);
  for (int i = 0; i < PARTS; i++)
    CHECK(pthread_join(running[i], NULL) == 0);

  /* The same dataset, in one part for each thread. */
  randomx_init_dataset(other, cache, 0, 4000);
  randomx_init_dataset(other, cache, items - 100, 100);
  CHECK(memcmp(item(dataset, 0), item(other, 0), 4000 * 64) == 0);
  CHECK(memcmp(item(dataset, items - 100), item(other, items - 100), 100 * 64) == 0);
  CHECK(memcmp(item(dataset, 3999), zeros, sizeof zeros) != 0);
  CHECK(memcmp(item(dataset, 4000), zeros, sizeof zeros) == 0);

  randomx_release_dataset(dataset);
  randomx_calculate_hash(vm, "x", 1, hash);
  CHECK(memcmp(hash, none, sizeof hash) != 0);
  /* A VM with a dataset ignores the cache. */
  randomx_vm_set_cache(vm, cache);
  randomx_vm_set_dataset(vm, other);
  randomx_release_dataset(other);
  randomx_calculate_hash_first(vm, "x", 1);
  randomx_calculate_hash_last(vm, hash);
  CHECK(memcmp(hash, none, sizeof hash) != 0);
  randomx_destroy_vm(vm);
  missing_items(flags, cache);
  randomx_release_cache(cache);
  puts("all checks passed");
  return 0;
}
