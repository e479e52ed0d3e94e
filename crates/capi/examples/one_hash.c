/* Prints one hash, computed in light mode. Build: cc one_hash.c $(pkg-config --cflags --libs randomx) */

#include <randomx.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const char key[] = "test key 000";
  const char input[] = "This is a test";
  unsigned char hash[RANDOMX_HASH_SIZE];

  randomx_flags flags = randomx_get_flags();
  randomx_cache *cache = randomx_alloc_cache(flags);
  if (cache == NULL) {
    fputs("cannot allocate a cache\n", stderr);
    return 1;
  }
  randomx_init_cache(cache, key, strlen(key));
  randomx_vm *vm = randomx_create_vm(flags, cache, NULL);
  if (vm == NULL) {
    fputs("cannot create a VM\n", stderr);
    randomx_release_cache(cache);
    return 1;
  }
  randomx_calculate_hash(vm, input, strlen(input), hash);
  for (size_t i = 0; i < sizeof hash; i++)
    printf("%02x", hash[i]);
  putchar('\n');

  randomx_destroy_vm(vm);
  randomx_release_cache(cache);
  return 0;
}
