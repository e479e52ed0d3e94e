/*
 * Hashes in a process and its forks at the same time, with VMs created before the fork.
 * Usage: fork [version]. Prints the path of the loaded librandomx.
 */

#define _DEFAULT_SOURCE

#include <randomx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS 2
#define CHILDREN 2
#define HASHES 6

static const char key[] = "test key 000";

static const char *const inputs[3] = {
  "This is a test",
  "Lorem ipsum dolor sit amet",
  "sed do eiusmod tempor incididunt ut labore et dolore magna aliqua",
};

/* From tests/vectors/specification-hashes.json, by version and input. */
static const char *const expected[2][3] = {
  {"639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f",
   "300a0adb47603dedb42228ccb2b211104f4da45af709cd7547cd049e9489c969",
   "c36d4ed4191e617309867ed66a443be4075014e2b061bcdaf9ce7b721d2b77a8"},
  {"22ec6b861b3eb23686b2efbad69513c967ecfce80983df66c9c5b4fbfb4cdb6f",
   "9e2c772c12fd48f93c14c97fdc89d556264d9100597023f44d9163e279012ecf",
   "4d6b063a1a603751d525f18a171336a4002f2f06df6c17e4b25fe17e17796e42"},
};

static int version;

static void check_hash(const unsigned char hash[RANDOMX_HASH_SIZE], int input) {
  char hex[2 * RANDOMX_HASH_SIZE + 1];
  for (int i = 0; i < RANDOMX_HASH_SIZE; i++)
    sprintf(hex + 2 * i, "%02x", hash[i]);
  CHECK(strcmp(hex, expected[version][input]) == 0);
}

static void hash_all(randomx_vm *vm) {
  unsigned char hash[RANDOMX_HASH_SIZE];
  for (int i = 0; i < HASHES; i++) {
    randomx_calculate_hash(vm, inputs[i % 3], strlen(inputs[i % 3]), hash);
    check_hash(hash, i % 3);
  }
}

/* Finishes the hash that was begun before the fork. */
static void hash_last(randomx_vm *vm, int input) {
  unsigned char hash[RANDOMX_HASH_SIZE];
  randomx_calculate_hash_last(vm, hash);
  check_hash(hash, input);
}

static void wait_for(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void run_child(randomx_cache *cache, randomx_flags flags, randomx_vm *vm,
                      randomx_vm *begun, int input) {
  hash_all(vm);
  hash_last(begun, input);

  /* A new mapping may have the address of the parent's code. */
  randomx_vm *own = randomx_create_vm(flags, cache, NULL);
  CHECK(own != NULL);
  pid_t grandchild = fork();
  CHECK(grandchild >= 0);
  if (grandchild == 0) {
    hash_all(own);
    hash_all(vm);
    _exit(0);
  }
  randomx_destroy_vm(begun);
  hash_all(own);
  hash_all(vm);
  wait_for(grandchild);
  randomx_destroy_vm(vm);
  hash_all(own);
  _exit(0);
}

static void fork_and_hash(randomx_cache *cache, randomx_flags flags) {
  randomx_vm *vm = randomx_create_vm(flags, cache, NULL);
  randomx_vm *begun = randomx_create_vm(flags, cache, NULL);
  CHECK(vm != NULL && begun != NULL);
  hash_all(vm);
  for (int round = 0; round < ROUNDS; round++) {
    pid_t children[CHILDREN];
    int input = round % 3;
    randomx_calculate_hash_first(begun, inputs[input], strlen(inputs[input]));
    for (int i = 0; i < CHILDREN; i++) {
      children[i] = fork();
      CHECK(children[i] >= 0);
      if (children[i] == 0)
        run_child(cache, flags, vm, begun, input);
    }
    for (int i = 0; i < 3; i++)
      hash_all(vm);
    hash_last(begun, input);
    for (int i = 0; i < CHILDREN; i++)
      wait_for(children[i]);
  }
  randomx_destroy_vm(begun);
  randomx_destroy_vm(vm);
}

static void print_library(void) {
  static char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) {
    const char *path = strchr(line, '/');
    if (path != NULL && strstr(path, "librandomx") != NULL) {
      fputs(path, stdout);
      break;
    }
  }
  fclose(maps);
}

int main(int count, char **arguments) {
  version = count > 1 && atol(arguments[1]) == 2;
  randomx_flags flags = (randomx_flags)(randomx_get_flags() | (version == 1 ? 128 : 0));
  randomx_cache *cache = randomx_alloc_cache(flags);
  CHECK(cache != NULL);
  randomx_init_cache(cache, key, sizeof key - 1);
  fork_and_hash(cache, flags);
  fork_and_hash(cache, (randomx_flags)(flags | RANDOMX_FLAG_SECURE));
  randomx_release_cache(cache);
  print_library();
  return 0;
}
