/* SPDX-License-Identifier: Apache-2.0 */
/* Text that was changed, and which bytes of the original each of its bytes stands for. */
#ifndef AXLE_TOKENIZERS_ALIGNED_H
#define AXLE_TOKENIZERS_ALIGNED_H

#include <stdbool.h>
#include <string.h>

#include "utf8.h"

typedef struct axle__span {
    uint32_t begin, end;
} axle__span;

/* Starts as {0}. */
typedef struct axle__aligned {
    char *text;
    axle__span *spans; /* of each byte */
    size_t length, capacity;
} axle__aligned;

void axle__aligned_free(axle__aligned *aligned);
/* Room for so many bytes more; false: out of memory, and recorded. */
bool axle__aligned_reserve(axle__aligned *aligned, size_t more);

/* There must be room for four bytes. */
static inline void axle__aligned_put(axle__aligned *aligned, int32_t c, axle__span span)
{
    size_t size = axle__utf8_put(aligned->text + aligned->length, c);
    for (size_t k = 0; k < size; k++)
        aligned->spans[aligned->length + k] = span;
    aligned->length += size;
}

/* `memory`, which has room for *capacity items of that size, with room for `need`; it grows by
 * halves at least. NULL: out of memory, and recorded; then it stays as it was. */
void *axle__grow(void *memory, size_t *capacity, size_t need, size_t size);
int axle__tokenizer_out_of_memory(void);

#endif
