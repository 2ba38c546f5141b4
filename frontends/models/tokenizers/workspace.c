/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace.h"

#include <stdlib.h>

void axle__workspace_free(axle__workspace *workspace)
{
    if (!workspace)
        return;
    axle__normalized_free(&workspace->normalized);
    free(workspace->parts.items);
    free(workspace->inner.items);
    axle__cut_free(&workspace->cut);
    axle__cache_free(workspace->cache);
    free(workspace->first.items);
    free(workspace->second.items);
    free(workspace);
}

static axle__workspace *create(void)
{
    axle__workspace *workspace = calloc(1, sizeof(*workspace));
    axle__cache *cache = axle__cache_create();
    if (workspace && cache) {
        workspace->cache = cache;
        return workspace;
    }
    free(workspace);
    axle__cache_free(cache);
    axle__tokenizer_out_of_memory();
    return NULL;
}

/* The list of idle ones is the one thing that changes in a tokenizer. */
axle__workspace *axle__workspace_take(const axle_tokenizer *tokenizer)
{
    axle_tokenizer *owner = (axle_tokenizer *)tokenizer;
    pthread_mutex_lock(&owner->lock);
    axle__workspace *workspace = owner->idle;
    if (workspace)
        owner->idle = workspace->next;
    pthread_mutex_unlock(&owner->lock);
    return workspace ? workspace : create();
}

void axle__workspace_give(const axle_tokenizer *tokenizer, axle__workspace *workspace)
{
    axle_tokenizer *owner = (axle_tokenizer *)tokenizer;
    if (!workspace)
        return;
    pthread_mutex_lock(&owner->lock);
    workspace->next = owner->idle;
    owner->idle = workspace;
    pthread_mutex_unlock(&owner->lock);
}
