/*
 * Hashes many generated inputs in a series, and every tenth input also alone. Fails if the two differ.
 * Usage: series [count] [version]
 */

#include <randomx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hex.h"

/* xorshift64*: the same sequence on every machine. */
static uint64_t random_word(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t random_input(uint64_t *state, unsigned char input[256]) {
  size_t size = random_word(state) % 256;
  for (size_t i = 0; i < size; i++)
    input[i] = (unsigned char)(random_word(state) >> 56);
  return size;
}

int main(int count, char **arguments) {
  long inputs = count > 1 ? atol(arguments[1]) : 200;
  int v2 = count > 2 && atol(arguments[2]) == 2 ? 128 : 0;
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
  unsigned char input[256], before[256], hash[RANDOMX_HASH_SIZE], again[RANDOMX_HASH_SIZE];
  const char key[] = "a series of random inputs";

  randomx_flags flags = (randomx_flags)(randomx_get_flags() | v2);
  randomx_cache *cache = randomx_alloc_cache(flags);
  if (cache == NULL)
    return 1;
  randomx_init_cache(cache, key, sizeof key - 1);
  randomx_vm *vm = randomx_create_vm(flags, cache, NULL);
  randomx_vm *other = randomx_create_vm(flags, cache, NULL);
  if (vm == NULL || other == NULL)
    return 1;

  size_t size = random_input(&state, input);
  randomx_calculate_hash_first(vm, input, size);
  for (long i = 0; i < inputs; i++) {
    size_t size_before = size;
    memcpy(before, input, sizeof before);
    if (i + 1 < inputs) {
      size = random_input(&state, input);
      randomx_calculate_hash_next(vm, input, size, hash);
    } else {
      randomx_calculate_hash_last(vm, hash);
    }
    print_hex(hash, sizeof hash);
    if (i % 10 == 0) {
      randomx_calculate_hash(other, before, size_before, again);
      if (memcmp(hash, again, sizeof hash) != 0) {
        fputs("a hash of the series differs from the hash alone\n", stderr);
        return 2;
      }
    }
  }
  randomx_destroy_vm(vm);
  randomx_destroy_vm(other);
  randomx_release_cache(cache);
  return 0;
}
