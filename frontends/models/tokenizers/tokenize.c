/* SPDX-License-Identifier: Apache-2.0 */
/* A text to its tokens. */
#include "axle/status.h"
#include "unicode.h"
#include "workspace.h"

static axle__token *push(axle__tokens *out)
{
    axle__token *items = axle__grow(out->items, &out->room, out->count + 1, sizeof(*items));
    if (!items)
        return NULL;
    out->items = items;
    return &items[out->count++];
}

/* ---- spaces of tokens, where offsets are trimmed */

static uint16_t at_most_16_bits(size_t count)
{
    return count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
}

/* Byte-level vocabularies write a space as U+0120. */
static bool is_space(int32_t c)
{
    return c == 0x120 || axle__classes(c) & AXLE__SPACE;
}

static void count_spaces(const char *text, size_t length, axle__token *token)
{
    size_t n = 0, k = 0;
    int32_t c;
    while (k < length) {
        k += axle__utf8_get(text + k, length - k, &c);
        if (!is_space(c))
            break;
        n++;
    }
    token->leading = at_most_16_bits(n);
    for (n = 0; length > 0; n++) {
        length -= axle__utf8_before(text, length, &c);
        if (!is_space(c))
            break;
    }
    token->trailing = at_most_16_bits(n);
}

/* ---- words */

typedef struct word {
    const char *text;
    size_t length;
    const axle__token_end *tokens;
    size_t count;
} word;

/* Set the tokens of a word, from the cache where it has them. */
static bool cut(const axle_tokenizer *tokenizer, axle__workspace *workspace, word *word)
{
    uint64_t hash = axle__word_hash(word->text, word->length);
    word->tokens = axle__cache_find(workspace->cache, hash, word->text, word->length, &word->count);
    if (word->tokens)
        return true;
    axle__cut *fresh = &workspace->cut;
    bool good = tokenizer->model.kind == AXLE__BPE
                    ? axle__bpe_cut(&tokenizer->model, word->text, word->length, fresh)
                    : axle__wordpiece_cut(&tokenizer->model, word->text, word->length, fresh);
    if (!good)
        return false;
    axle__cache_keep(workspace->cache, hash, word->text, word->length, fresh->tokens, fresh->count);
    word->tokens = fresh->tokens;
    word->count = fresh->count;
    return true;
}

/* @param spans  of the word's bytes. */
static bool add_word(const axle_tokenizer *tokenizer, axle__workspace *workspace, word word,
                     const axle__span *spans, uint32_t number, axle__tokens *out)
{
    uint32_t begin = 0;
    if (!cut(tokenizer, workspace, &word))
        return false;
    for (size_t k = 0; k < word.count; begin = word.tokens[k++].end) {
        axle__token *token = push(out);
        if (!token)
            return false;
        *token = (axle__token){.id = word.tokens[k].id,
                               .begin = spans[begin].begin,
                               .end = spans[word.tokens[k].end - 1].end,
                               .word = number};
        const char *text = tokenizer->model.words.texts[token->id];
        if (tokenizer->layout.trims)
            count_spaces(text, strlen(text), token);
    }
    return true;
}

/* ---- parts of a text */

static bool add_token(const axle_tokenizer *tokenizer, const axle__added_token *added,
                      const char *text, size_t length, axle__span span, uint32_t *words,
                      axle__tokens *out)
{
    axle__token *token = push(out);
    if (!token)
        return false;
    *token = (axle__token){added->id, span.begin, span.end, (*words)++, 0, 0};
    if (tokenizer->layout.trims)
        count_spaces(text, length, token);
    return true;
}

/* Words of text[begin..end), with a space in front where there has to be one. */
static bool add_words(const axle_tokenizer *tokenizer, axle__workspace *workspace, size_t begin,
                      size_t end, uint32_t *words, axle__tokens *out)
{
    axle__aligned *all = &workspace->normalized.text;
    if (tokenizer->prefix_space && all->text[begin] != ' ') {
        begin--;
        all->text[begin] = ' ';
        all->spans[begin] = all->spans[begin + 1];
    }
    const char *text = all->text + begin;
    for (size_t from = 0, to = 0; tokenizer->split(text, end - begin, &from, &to);)
        if (!add_word(tokenizer, workspace, (word){text + from, to - from, NULL, 0},
                      all->spans + begin + from, (*words)++, out))
            return false;
    return true;
}

/* What is between tokens that are looked for as they are. */
static bool add_between(const axle_tokenizer *tokenizer, axle__workspace *workspace,
                        const char *text, axle__part part, bool specials_as_text, uint32_t *words,
                        axle__tokens *out)
{
    axle__aligned *all = &workspace->normalized.text;
    if (!axle__normalize(&tokenizer->normalizer, text + part.begin, part.end - part.begin,
                         part.begin, &workspace->normalized) ||
        !axle__added_split(&tokenizer->added, true, specials_as_text, all->text + 1,
                           all->length - 1, &workspace->inner))
        return false;
    for (size_t k = 0; k < workspace->inner.count; k++) {
        const axle__part *inner = &workspace->inner.items[k];
        size_t begin = 1 + inner->begin, end = 1 + inner->end;
        if (begin == end)
            continue;
        axle__span span = {all->spans[begin].begin, all->spans[end - 1].end};
        if (inner->token ? !add_token(tokenizer, inner->token, all->text + begin, end - begin, span,
                                      words, out)
                         : !add_words(tokenizer, workspace, begin, end, words, out))
            return false;
    }
    return true;
}

int axle__tokenize(const axle_tokenizer *tokenizer, axle__workspace *workspace, const char *text,
                   size_t length, bool specials_as_text, axle__tokens *out)
{
    uint32_t words = 0;
    out->count = 0;
    if (!axle__added_split(&tokenizer->added, false, specials_as_text, text, length,
                           &workspace->parts))
        return AXLE_ERR_NOMEM;
    for (size_t k = 0; k < workspace->parts.count; k++) {
        const axle__part *part = &workspace->parts.items[k];
        axle__span span = {(uint32_t)part->begin, (uint32_t)part->end};
        if (part->token
                ? !add_token(tokenizer, part->token, text + part->begin, part->end - part->begin,
                             span, &words, out)
                : !add_between(tokenizer, workspace, text, *part, specials_as_text, &words, out))
            return AXLE_ERR_NOMEM;
    }
    return AXLE_OK;
}
