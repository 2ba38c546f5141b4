/* SPDX-License-Identifier: Apache-2.0 */
/* WordPiece: of a word the longest token that it begins with, then likewise of the rest. */
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "axle/status.h"
#include "model.h"
#include "utf8.h"

void axle__model_free(axle__model *model)
{
    axle__vocabulary_free(&model->words);
    axle__trie_free(&model->trie);
    free(model->prefix);
    free(model->merges);
}

void axle__cut_free(axle__cut *cut)
{
    free(cut->tokens);
    free(cut->symbols);
    free(cut->heap);
}

bool axle__cut_push(axle__cut *cut, int32_t id, size_t end)
{
    axle__token_end *tokens = axle__grow(cut->tokens, &cut->room, cut->count + 1, sizeof(*tokens));
    if (!tokens)
        return false;
    cut->tokens = tokens;
    tokens[cut->count++] = (axle__token_end){id, (uint32_t)end};
    return true;
}

int axle__wordpiece_prepare(axle__model *model)
{
    for (int32_t k = 0; k < model->words.ids; k++) {
        const char *text = model->words.texts[k];
        if (text && !axle__trie_add(&model->trie, text, strlen(text), k))
            return axle_error_code();
    }
    model->continued = axle__trie_walk(&model->trie, model->prefix, strlen(model->prefix));
    return AXLE_OK;
}

/* Whether the word has more code points than are looked at. */
static bool is_too_long(const axle__model *model, const char *word, size_t length)
{
    int64_t count = 0;
    if ((int64_t)length <= model->longest)
        return false;
    for (size_t k = 0; k < length; k++)
        count += ((unsigned char)word[k] & 0xC0) != 0x80;
    return count > model->longest;
}

static bool unknown(const axle__model *model, size_t length, axle__cut *cut)
{
    cut->count = 0;
    return axle__cut_push(cut, model->unknown, length);
}

bool axle__wordpiece_cut(const axle__model *model, const char *word, size_t length, axle__cut *cut)
{
    cut->count = 0;
    if (is_too_long(model, word, length))
        return unknown(model, length, cut);
    for (size_t begin = 0, size = 0; begin < length; begin += size) {
        int64_t node = begin ? model->continued : 0;
        int32_t id = node == AXLE__NO_NODE ? -1
                                           : axle__trie_longest(&model->trie, node, word + begin,
                                                                length - begin, &size);
        if (id < 0)
            return unknown(model, length, cut);
        if (!axle__cut_push(cut, id, begin + size))
            return false;
    }
    return true;
}
