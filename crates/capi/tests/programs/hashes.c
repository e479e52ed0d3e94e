/*
 * Hashes each line of standard input: version, key and input, each followed by a space. Key and
 * input are hexadecimal, or "-" if empty. One cache serves all keys; each version has its own VM.
 */

#include <randomx.h>
#include <stdio.h>
#include <string.h>

#include "hex.h"

/* RANDOMX_FLAG_V2, missing in the headers of librandomx before 2.0. */
#define V2 128

#define MOST 65536

/* Reads pairs of hexadecimal digits up to another character. Returns the number of pairs. */
static size_t parse_hex(const char *text, unsigned char *bytes, size_t room) {
  static const char digits[] = "0123456789abcdef";
  size_t size = 0;
  while (size < room && text[0] != '\0' && text[1] != '\0') {
    const char *high = strchr(digits, text[0]), *low = strchr(digits, text[1]);
    if (high == NULL || low == NULL)
      break;
    bytes[size++] = (unsigned char)((high - digits) << 4 | (low - digits));
    text += 2;
  }
  return size;
}

int main(void) {
  static char line[4 * MOST];
  static unsigned char key[MOST], input[MOST];
  unsigned char hash[RANDOMX_HASH_SIZE];
  randomx_flags flags = randomx_get_flags();
  randomx_cache *cache = randomx_alloc_cache(flags);
  randomx_vm *vms[2] = {NULL, NULL};

  if (cache == NULL) {
    fputs("cannot allocate a cache\n", stderr);
    return 1;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    int version = line[0] - '1';
    const char *second = strchr(line, ' ');
    const char *third = second == NULL ? NULL : strchr(second + 1, ' ');
    if (version < 0 || version > 1 || third == NULL)
      return 2;
    size_t key_size = parse_hex(second + 1, key, sizeof key);
    size_t input_size = parse_hex(third + 1, input, sizeof input);
    randomx_init_cache(cache, key, key_size);
    if (vms[version] == NULL) {
      int v2 = version == 1 ? V2 : 0;
      vms[version] = randomx_create_vm((randomx_flags)(flags | v2), cache, NULL);
    }
    randomx_vm_set_cache(vms[version], cache);
    randomx_calculate_hash(vms[version], input, input_size, hash);
    print_hex(hash, sizeof hash);
    fflush(stdout);
  }
  for (int i = 0; i < 2; i++)
    if (vms[i] != NULL)
      randomx_destroy_vm(vms[i]);
  randomx_release_cache(cache);
  return 0;
}
