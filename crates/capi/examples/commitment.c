/* Prints a v2 hash and its commitment. Build: cc commitment.c $(pkg-config --cflags --libs randomx) */

#include <randomx.h>
#include <stdio.h>
#include <string.h>

static void print(const char *name, const unsigned char bytes[RANDOMX_HASH_SIZE]) {
  printf("%s ", name);
  for (size_t i = 0; i < RANDOMX_HASH_SIZE; i++)
    printf("%02x", bytes[i]);
  putchar('\n');
}

int main(void) {
  const char key[] = "test key 000";
  const char input[] = "This is a test";
  unsigned char hash[RANDOMX_HASH_SIZE], commitment[RANDOMX_HASH_SIZE];

  randomx_flags flags = randomx_get_flags();
  flags = (randomx_flags)(flags | RANDOMX_FLAG_V2);
  randomx_cache *cache = randomx_alloc_cache(flags);
  randomx_init_cache(cache, key, strlen(key));
  randomx_vm *vm = randomx_create_vm(flags, cache, NULL);
  if (vm == NULL) {
    fputs("cannot allocate a cache or a VM\n", stderr);
    randomx_release_cache(cache);
    return 1;
  }
  randomx_calculate_hash(vm, input, strlen(input), hash);
  randomx_calculate_commitment(input, strlen(input), hash, commitment);
  print("hash", hash);
  print("commitment", commitment);

  randomx_destroy_vm(vm);
  randomx_release_cache(cache);
  return 0;
}
