/* SPDX-License-Identifier: Apache-2.0 */
#include "added.h"

#include <stdlib.h>

#include "axle/status.h"
#include "unicode.h"

void axle__added_free(axle__added *added)
{
    for (size_t k = 0; k < added->count; k++)
        free(added->tokens[k].text);
    free(added->tokens);
    axle__trie_free(&added->plain);
    axle__trie_free(&added->normalized);
}

const axle__added_token *axle__added_find(const axle__added *added, int32_t id)
{
    for (size_t k = 0; k < added->count; k++)
        if (added->tokens[k].id == id)
            return &added->tokens[k];
    return NULL;
}

int axle__added_put(axle__added *added, const axle__added_token *token)
{
    if (axle__added_find(added, token->id))
        return AXLE_OK;
    axle__added_token *tokens =
        axle__grow(added->tokens, &added->room, added->count + 1, sizeof(*tokens));
    if (!tokens)
        return AXLE_ERR_NOMEM;
    added->tokens = tokens;
    tokens[added->count] = *token;
    tokens[added->count].text = strdup(token->text);
    if (!tokens[added->count].text)
        return axle__tokenizer_out_of_memory();
    added->count++;
    return AXLE_OK;
}

static bool enter(axle__trie *trie, bool *first, const char *text, size_t length, size_t k)
{
    if (length == 0)
        return true;
    first[(unsigned char)*text] = true;
    return axle__trie_add(trie, text, length, (int32_t)k);
}

static bool enter_normalized(axle__added *added, size_t k, const axle__normalizer *normalizer,
                             axle__normalized *scratch)
{
    const char *text = added->tokens[k].text;
    return axle__normalize(normalizer, text, strlen(text), 0, scratch) &&
           enter(&added->normalized, added->first_normalized, scratch->text.text + 1,
                 scratch->text.length - 1, k);
}

int axle__added_prepare(axle__added *added, const axle__normalizer *normalizer)
{
    axle__normalized scratch = {.pieces = {NULL, 0, 0}};
    bool good = true;
    for (size_t k = 0; k < added->count && good; k++) {
        const char *text = added->tokens[k].text;
        good = added->tokens[k].normalized
                   ? enter_normalized(added, k, normalizer, &scratch)
                   : enter(&added->plain, added->first_plain, text, strlen(text), k);
    }
    axle__normalized_free(&scratch);
    return good ? AXLE_OK : axle_error_code();
}

/* ---- looking for them */

static bool word_before(const char *text, size_t begin)
{
    int32_t c;
    return begin > 0 && (axle__utf8_before(text, begin, &c), axle__classes(c) & AXLE__WORD);
}

static bool word_after(const char *text, size_t length, size_t end)
{
    int32_t c;
    return end < length &&
           (axle__utf8_get(text + end, length - end, &c), axle__classes(c) & AXLE__WORD);
}

/* Take in the spaces before `begin`, but not those before `least`. */
static size_t reach_left(const char *text, size_t begin, size_t least)
{
    int32_t c;
    while (begin > least) {
        size_t size = axle__utf8_before(text, begin, &c);
        if (!(axle__classes(c) & AXLE__SPACE) || begin - size < least)
            break;
        begin -= size;
    }
    return begin;
}

static size_t reach_right(const char *text, size_t length, size_t end)
{
    int32_t c;
    while (end < length) {
        size_t size = axle__utf8_get(text + end, length - end, &c);
        if (!(axle__classes(c) & AXLE__SPACE))
            break;
        end += size;
    }
    return end;
}

static bool push(axle__parts *out, const axle__added_token *token, size_t begin, size_t end)
{
    axle__part *items = axle__grow(out->items, &out->room, out->count + 1, sizeof(*items));
    if (!items)
        return false;
    out->items = items;
    items[out->count++] = (axle__part){token, begin, end};
    return true;
}

bool axle__added_split(const axle__added *added, bool normalized, bool specials_as_text,
                       const char *text, size_t length, axle__parts *out)
{
    const axle__trie *trie = normalized ? &added->normalized : &added->plain;
    const bool *first = normalized ? added->first_normalized : added->first_plain;
    size_t done = 0, size = 0;
    out->count = 0;
    for (size_t k = 0; trie->size && k < length; k += size) {
        int32_t found = -1;
        size = 1;
        if (first[(unsigned char)text[k]])
            found = axle__trie_longest(trie, 0, text + k, length - k, &size);
        if (found < 0)
            continue;
        const axle__added_token *token = &added->tokens[found];
        size_t begin = k, end = k + size;
        if ((specials_as_text && token->special) ||
            (token->single_word && (word_before(text, begin) || word_after(text, length, end))))
            continue;
        begin = token->left ? reach_left(text, begin, done < begin ? done : begin) : begin;
        end = token->right ? reach_right(text, length, end) : end;
        if (begin > done && !push(out, NULL, done, begin))
            return false;
        if (!push(out, token, begin, end))
            return false;
        done = end;
    }
    return (done >= length && length > 0) || push(out, NULL, done, length);
}
