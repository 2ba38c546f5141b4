/* SPDX-License-Identifier: Apache-2.0 */
#include "aligned.h"

#include <stdlib.h>

#include "axle/status.h"

int axle__tokenizer_out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "tokenizer: out of memory");
}

void *axle__grow(void *memory, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity && memory)
        return memory;
    size_t more = *capacity + *capacity / 2 > need ? *capacity + *capacity / 2 : need + 16;
    void *grown = more <= SIZE_MAX / 2 / size ? realloc(memory, more * size) : NULL;
    if (!grown) {
        axle__tokenizer_out_of_memory();
        return NULL;
    }
    *capacity = more;
    return grown;
}

void axle__aligned_free(axle__aligned *aligned)
{
    free(aligned->text);
    free(aligned->spans);
}

bool axle__aligned_reserve(axle__aligned *aligned, size_t more)
{
    size_t need = aligned->length + more, texts = aligned->capacity, spans = aligned->capacity;
    if (aligned->text && need <= aligned->capacity)
        return true;
    char *text = axle__grow(aligned->text, &texts, need, 1);
    if (!text)
        return false;
    aligned->text = text;
    axle__span *grown = axle__grow(aligned->spans, &spans, need, sizeof(axle__span));
    if (!grown)
        return false;
    aligned->spans = grown;
    aligned->capacity = spans;
    return true;
}
