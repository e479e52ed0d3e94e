/*
 * Hashes with another implementation, RandomX v1 of the installed librandomx. Reads lines of a key and an
 * input in hexadecimal, with a space between, and answers each with the hash.
 */
#include <randomx.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 256 };

static size_t decode(const char *hex, unsigned char *bytes) {
    size_t length = 0;
    unsigned byte;
    while (length < LONGEST && sscanf(hex + 2 * length, "%2x", &byte) == 1) {
        bytes[length++] = (unsigned char)byte;
    }
    return length;
}

int main(void) {
    randomx_flags flags = randomx_get_flags();
    randomx_cache *cache = randomx_alloc_cache(flags);
    randomx_vm *vm = NULL;
    char key[2 * LONGEST + 1], input[2 * LONGEST + 1], last[2 * LONGEST + 1] = "";
    if (cache == NULL) return 1;
    while (scanf("%512s %512s", key, input) == 2) {
        unsigned char bytes[LONGEST], hash[RANDOMX_HASH_SIZE];
        if (vm == NULL || strcmp(key, last) != 0) {
            size_t length = decode(key, bytes);
            randomx_init_cache(cache, bytes, length);
            if (vm == NULL) vm = randomx_create_vm(flags, cache, NULL);
            else randomx_vm_set_cache(vm, cache);
            if (vm == NULL) return 1;
            strcpy(last, key);
        }
        size_t length = decode(input, bytes);
        randomx_calculate_hash(vm, bytes, length, hash);
        for (int i = 0; i < RANDOMX_HASH_SIZE; i++) printf("%02x", hash[i]);
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}
