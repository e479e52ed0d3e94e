/* Checks that end the program when they do not hold. */

#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);       \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

#endif
