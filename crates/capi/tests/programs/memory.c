/* An allocation that fails returns NULL, at whatever point memory runs out. */

#define _DEFAULT_SOURCE

#include <randomx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* Bytes of address space in use. */
static rlim_t in_use(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
  fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void leave(rlim_t bytes) {
  rlim_t limit = in_use() + bytes;
  struct rlimit both = {limit, limit};
  CHECK(setrlimit(RLIMIT_AS, &both) == 0);
}

/* Runs a function in a process with that much address space left. Returns whether it succeeded. */
static int with(rlim_t bytes, int (*function)(void)) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    leave(bytes);
    _exit(function() ? 10 : 20);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  if (!WIFEXITED(status) || (WEXITSTATUS(status) != 10 && WEXITSTATUS(status) != 20))
    fprintf(stderr, "%lu bytes left: status %x\n", (unsigned long)bytes, (unsigned)status);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 20);
  return WEXITSTATUS(status) == 10;
}

static randomx_cache *cache;
static char *long_key;

static int a_cache(void) {
  return randomx_alloc_cache(randomx_get_flags()) != NULL;
}

static int a_dataset(void) {
  return randomx_alloc_dataset(RANDOMX_FLAG_DEFAULT) != NULL;
}

static int is_hash(const unsigned char *bytes) {
  for (int i = 0; i < RANDOMX_HASH_SIZE; i++)
    if (bytes[i] != 0xff)
      return 1;
  return 0;
}

/* Returns whether hashes with a long key are refused, until another key is set. */
static int no_long_key(void) {
  const size_t size = 100 << 20;
  unsigned char hash[RANDOMX_HASH_SIZE];
  randomx_vm *vm = randomx_create_vm(randomx_get_flags(), cache, NULL);
  if (vm == NULL)
    return 0;
  randomx_init_cache(cache, long_key, size);
  randomx_vm_set_cache(vm, cache);
  randomx_calculate_hash(vm, "x", 1, hash);
  if (is_hash(hash))
    return 0;
  randomx_init_cache(cache, "key", 3);
  randomx_calculate_hash(vm, "x", 1, hash);
  return is_hash(hash);
}

static int a_vm(void) {
  unsigned char hash[RANDOMX_HASH_SIZE];
  randomx_vm *vm = randomx_create_vm(randomx_get_flags(), cache, NULL);
  if (vm == NULL)
    return 0;
  randomx_calculate_hash(vm, "x", 1, hash);
  return 1;
}

int main(void) {
  const rlim_t mebibyte = 1 << 20;
  CHECK(!with(100 * mebibyte, a_cache));
  CHECK(with(300 * mebibyte, a_cache));
  CHECK(!with(2000 * mebibyte, a_dataset));

  cache = randomx_alloc_cache(randomx_get_flags());
  CHECK(cache != NULL);
  randomx_init_cache(cache, "key", 3);
  CHECK(with(64 * mebibyte, a_vm));
  int had = 0;
  for (rlim_t left = 0; left < 20 * mebibyte; left += mebibyte / 4)
    had += with(left, a_vm);
  CHECK(had > 0 && had < 80);
  long_key = calloc(1, 100 << 20);
  CHECK(long_key != NULL);
  CHECK(with(64 * mebibyte, no_long_key));
  free(long_key);
  randomx_release_cache(cache);
  puts("all checks passed");
  return 0;
}
