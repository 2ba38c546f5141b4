/* SPDX-License-Identifier: Apache-2.0 */
#include "unicode.h"

#include <stdbool.h>
#include <utf8proc.h>

/* Rows of 16, in this order: controls; punctuation and digits; letters. */
#define C_ AXLE__REMOVED
#define S_ AXLE__SPACE
#define B_ (AXLE__SPACE | AXLE__REMOVED)
#define P_ AXLE__PUNCTUATION
#define U_ (AXLE__PUNCTUATION | AXLE__WORD)
#define N_ (AXLE__NUMBER | AXLE__WORD)
#define L_ (AXLE__LETTER | AXLE__WORD)
const unsigned char axle__ascii_classes[128] = {
    C_, C_, C_, C_, C_, C_, C_, C_, C_, S_, S_, B_, B_, S_, C_, C_, /* U+0000 */
    C_, C_, C_, C_, C_, C_, C_, C_, C_, C_, C_, C_, C_, C_, C_, C_, /* U+0010 */
    S_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, P_, /* U+0020 */
    N_, N_, N_, N_, N_, N_, N_, N_, N_, N_, P_, P_, P_, P_, P_, P_, /* U+0030 */
    P_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, /* U+0040 */
    L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, P_, P_, P_, P_, U_, /* U+0050 */
    P_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, /* U+0060 */
    L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, L_, P_, P_, P_, P_, C_, /* U+0070 */
};

/* ---- categories */

/* By category of utf8proc, in its order. */
static const unsigned char categories[] = {
    [UTF8PROC_CATEGORY_CN] = 0,
    [UTF8PROC_CATEGORY_LU] = L_,
    [UTF8PROC_CATEGORY_LL] = L_,
    [UTF8PROC_CATEGORY_LT] = L_,
    [UTF8PROC_CATEGORY_LM] = L_,
    [UTF8PROC_CATEGORY_LO] = L_,
    [UTF8PROC_CATEGORY_MN] = AXLE__MARK | AXLE__WORD,
    [UTF8PROC_CATEGORY_MC] = AXLE__WORD,
    [UTF8PROC_CATEGORY_ME] = AXLE__WORD,
    [UTF8PROC_CATEGORY_ND] = N_,
    [UTF8PROC_CATEGORY_NL] = N_,
    [UTF8PROC_CATEGORY_NO] = AXLE__NUMBER,
    [UTF8PROC_CATEGORY_PC] = U_,
    [UTF8PROC_CATEGORY_PD] = P_,
    [UTF8PROC_CATEGORY_PS] = P_,
    [UTF8PROC_CATEGORY_PE] = P_,
    [UTF8PROC_CATEGORY_PI] = P_,
    [UTF8PROC_CATEGORY_PF] = P_,
    [UTF8PROC_CATEGORY_PO] = P_,
    [UTF8PROC_CATEGORY_SM] = 0,
    [UTF8PROC_CATEGORY_SC] = 0,
    [UTF8PROC_CATEGORY_SK] = 0,
    [UTF8PROC_CATEGORY_SO] = 0,
    [UTF8PROC_CATEGORY_ZS] = S_,
    [UTF8PROC_CATEGORY_ZL] = S_,
    [UTF8PROC_CATEGORY_ZP] = S_,
    [UTF8PROC_CATEGORY_CC] = C_,
    [UTF8PROC_CATEGORY_CF] = C_,
    [UTF8PROC_CATEGORY_CS] = C_,
    [UTF8PROC_CATEGORY_CO] = C_,
};

typedef struct range {
    int32_t first, last;
    unsigned char classes;
} range;

/* \w without being a letter, a mark or a number, and spaces that are controls. */
static const range more[] = {
    {0x85, 0x85, B_},
    {0x200C, 0x200D, C_ | AXLE__WORD},
    {0x24B6, 0x24E9, AXLE__WORD},
    {0xFFFD, 0xFFFD, C_},
    {0x1F130, 0x1F149, AXLE__WORD},
    {0x1F150, 0x1F169, AXLE__WORD},
    {0x1F170, 0x1F189, AXLE__WORD},
};

/* Blocks as BERT's own code writes them; its fifth has a gap at U+2B820. */
static const range chinese[] = {
    {0x3400, 0x4DBF, 0},   {0x4E00, 0x9FFF, 0},   {0xF900, 0xFAFF, 0},   {0x20000, 0x2A6DF, 0},
    {0x2A700, 0x2B73F, 0}, {0x2B740, 0x2B81F, 0}, {0x2B920, 0x2CEAF, 0}, {0x2F800, 0x2FA1F, 0},
};

/* ---- what was otherwise when vocabularies were made */

enum { MARK, NO_MARK, PUNCTUATION, NO_PUNCTUATION, NO_FORMAT };
static const range frozen[] = {
#include "frozen_table.h"
};
static const unsigned char frozen_set[] = {AXLE__MARK, 0, AXLE__PUNCTUATION, 0, 0};
static const unsigned char frozen_clear[] = {0, AXLE__MARK, 0, AXLE__PUNCTUATION, AXLE__REMOVED};

static const range *find(const range *ranges, size_t count, int32_t c)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (c < ranges[middle].first)
            count = middle;
        else if (c > ranges[middle].last)
            low = middle + 1;
        else
            return &ranges[middle];
    }
    return NULL;
}
#define FIND(ranges, c) find(ranges, sizeof(ranges) / sizeof((ranges)[0]), c)

unsigned axle__unicode_classes(int32_t c)
{
    const range *special = FIND(more, c);
    if (special)
        return special->classes;
    unsigned classes = categories[utf8proc_get_property(c)->category];
    if (classes == L_ || classes == 0)
        classes |= c >= 0x3400 && FIND(chinese, c) ? AXLE__CHINESE : 0;
    special = FIND(frozen, c);
    if (special)
        classes = (classes | frozen_set[special->classes]) & ~frozen_clear[special->classes];
    return classes;
}

/* ---- cases and forms */

int axle__unicode_lower(int32_t c, int32_t out[2])
{
    if (c == 0x130) {
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = utf8proc_tolower(c);
    return 1;
}

int axle__unicode_decompose(int32_t c, int compatible, int32_t out[AXLE__LONGEST_DECOMPOSITION])
{
    int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0), boundary = 0;
    utf8proc_ssize_t n =
        utf8proc_decompose_char(c, out, AXLE__LONGEST_DECOMPOSITION, options, &boundary);
    if (n > 0 && n <= AXLE__LONGEST_DECOMPOSITION)
        return (int)n;
    out[0] = c;
    return 1;
}

int axle__unicode_combining_class(int32_t c)
{
    return utf8proc_get_property(c)->combining_class;
}

int32_t axle__unicode_compose(int32_t a, int32_t b)
{
    int32_t pair[2] = {a, b};
    if (b < 0x300)
        return 0;
    return utf8proc_normalize_utf32(pair, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE) == 1 ? pair[0] : 0;
}
