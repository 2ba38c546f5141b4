/* SPDX-License-Identifier: Apache-2.0 */
/* The table of architectures. */
#include <string.h>

#include "architecture.h"

#define ROW(name) &axle__##name,
static const axle__architecture *const rows[] = {AXLE__ARCHITECTURE_LIST(ROW) NULL};
#define NAME(name) #name,
static const char *const names[] = {AXLE__ARCHITECTURE_LIST(NAME) NULL};

const axle__architecture *axle__architecture_find(const char *model_type)
{
    for (int k = 0; names[k]; k++)
        if (strcmp(names[k], model_type) == 0)
            return rows[k];
    return NULL;
}

const char *const *axle_transformer_model_types(void)
{
    return names;
}

const char *const *axle_transformer_tasks(void)
{
    static const char *const tasks[] = {
        "base", "sequence-classification", "token-classification", "masked-lm", "causal-lm", NULL};
    return tasks;
}
