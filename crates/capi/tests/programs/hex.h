/* Bytes as hexadecimal. */

#ifndef HEX_H
#define HEX_H

#include <stddef.h>
#include <stdio.h>

static void print_hex(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    printf("%02x", bytes[i]);
  putchar('\n');
}

#endif
