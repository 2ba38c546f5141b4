/* SPDX-License-Identifier: Apache-2.0 */
/* What tokenizers got wrong in the field. */
#include "axle/tokenizer.h"

#include "train/folder.h"

/* Tokens of a text, without those around it, joined with spaces; in a buffer that the next call
 * uses again. */
static const char *tokens_of(const axle_tokenizer *tokenizer, const char *text, int64_t length)
{
    static char joined[8192];
    axle_encode_options options = AXLE_ENCODE_OPTIONS_INIT;
    axle_encoding *encoding;
    options.add_special_tokens = 0;
    if (axle_tokenizer_encode(tokenizer, text, length, NULL, 0, &options, &encoding))
        fail_msg("%s", axle_error_message());
    joined[0] = '\0';
    for (int64_t k = 0; k < encoding->length; k++) {
        const char *token = axle_tokenizer_token(tokenizer, encoding->ids[k]);
        assert_true(strlen(joined) + strlen(token) + 2 < sizeof(joined));
        strcat(strcat(joined, k ? " " : ""), token);
    }
    axle_encoding_release(encoding);
    return joined;
}

#define EXPECT_TOKENS(tokenizer, text, expected)                                                   \
    assert_string_equal(tokens_of(tokenizer, text, -1), expected)

static axle_tokenizer *wordpiece(const char *const *words, int64_t n,
                                 const axle_wordpiece_options *options)
{
    axle_tokenizer *tokenizer;
    if (axle_tokenizer_create_wordpiece(words, n, options, &tokenizer))
        fail_msg("%s", axle_error_message());
    return tokenizer;
}

#define SPECIALS "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
#define WORDS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        SPECIALS, __VA_ARGS__                                                                      \
    }
#define COUNT(...) ((int64_t)(5 + sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))
#define WORDPIECE(options, ...) wordpiece(WORDS(__VA_ARGS__), COUNT(__VA_ARGS__), options)

/* ------------------------------------------------------------------ normalisation */

static axle_wordpiece_options cased(int strip_accents)
{
    axle_wordpiece_options options = AXLE_WORDPIECE_OPTIONS_INIT;
    options.lower_case = 0;
    options.strip_accents = strip_accents;
    return options;
}

static void accents_go_with_capitals(void **state)
{
    (void)state;
    static const char text[] = "Cr\u00e8me br\u00fbl\u00e9e na\u00efve";
    axle_wordpiece_options keeps = cased(-1), lower = AXLE_WORDPIECE_OPTIONS_INIT;
    lower.strip_accents = 0;
    axle_tokenizer *uncased = WORDPIECE(NULL, "creme", "brulee", "naive", "a", "\u0915", "\u0937");
    axle_tokenizer *as_is =
        WORDPIECE(&keeps, "Cr\u00e8me", "br\u00fbl\u00e9e", "na\u00efve", "\u212b");
    axle_tokenizer *accented = WORDPIECE(&lower, "cr\u00e8me", "br\u00fbl\u00e9e", "na\u00efve");
    EXPECT_TOKENS(uncased, text, "creme brulee naive");
    EXPECT_TOKENS(as_is, text, "Cr\u00e8me br\u00fbl\u00e9e na\u00efve");
    EXPECT_TOKENS(accented, text, "cr\u00e8me br\u00fbl\u00e9e na\u00efve");
    EXPECT_TOKENS(uncased, "\u212b", "a"); /* the sign for the unit angstrom */
    EXPECT_TOKENS(uncased, "\u0915\u0941 \u0937", "\u0915 \u0937"); /* a vowel sign is a mark */
    EXPECT_TOKENS(as_is, "\u212b", "\u212b");
    axle_tokenizer_release(uncased);
    axle_tokenizer_release(as_is);
    axle_tokenizer_release(accented);
}

static void odd_characters_are_spaces_words_or_nothing(void **state)
{
    (void)state;
    axle_tokenizer *t = WORDPIECE(NULL, "one", "line", "ab", "xy", "$", "5", "+", "3", "10", "km");
    EXPECT_TOKENS(t, "one\nline", "one line");
    EXPECT_TOKENS(t, "one\tline\rone", "one line one");
    EXPECT_TOKENS(t, "a\u00adb", "ab");
    assert_string_equal(tokens_of(t, "x\0y", 3), "xy");
    EXPECT_TOKENS(t, "x\ufffdy", "xy");
    EXPECT_TOKENS(t, "$5+3", "$ 5 + 3");
    EXPECT_TOKENS(t, "10\u00a0km", "10 km");
    EXPECT_TOKENS(t, "x\xC3y", "xy"); /* a byte that is no UTF-8 counts as U+FFFD */
    axle_tokenizer_release(t);
}

/* ------------------------------------------------------------------ words */

static void repeat(char *to, const char *part, int times)
{
    *to = '\0';
    while (times-- > 0)
        strcat(to, part);
}

static int count_of(const axle_tokenizer *tokenizer, const char *text)
{
    axle_encode_options options = AXLE_ENCODE_OPTIONS_INIT;
    axle_encoding *encoding;
    options.add_special_tokens = 0;
    if (axle_tokenizer_encode(tokenizer, text, -1, NULL, 0, &options, &encoding))
        fail_msg("%s", axle_error_message());
    int count = (int)encoding->length;
    axle_encoding_release(encoding);
    return count;
}

static void words_are_whole_or_unknown(void **state)
{
    (void)state;
    char text[256];
    axle_tokenizer *t =
        WORDPIECE(NULL, "un", "##want", "##ed", "runn", "##ing", "a", "##a", "\u0436", "##\u0436");
    EXPECT_TOKENS(t, "unwantedX running", "[UNK] runn ##ing");
    repeat(text, "a", 100);
    assert_int_equal(count_of(t, text), 100);
    repeat(text, "a", 101);
    EXPECT_TOKENS(t, text, "[UNK]");
    repeat(text, "\u0436", 60); /* 120 bytes */
    assert_int_equal(count_of(t, text), 60);
    axle_tokenizer_release(t);
}

/* ------------------------------------------------------------------ special and added tokens */

static void special_tokens_are_found_first(void **state)
{
    (void)state;
    axle_encode_options plain = AXLE_ENCODE_OPTIONS_INIT;
    axle_encoding *encoding;
    axle_tokenizer *t = WORDPIECE(NULL, "go", "to", "now", "x", "[", "mask", "]");
    EXPECT_TOKENS(t, "go to [MASK] now[SEP]x", "go to [MASK] now [SEP] x");
    EXPECT_TOKENS(t, "[mask]", "[ mask ]");
    plain.specials_as_text = 1;
    if (axle_tokenizer_encode(t, "[MASK]", -1, NULL, 0, &plain, &encoding))
        fail_msg("%s", axle_error_message());
    assert_int_equal(encoding->length, 5); /* [CLS] [ mask ] [SEP] */
    axle_encoding_release(encoding);
    if (axle_tokenizer_encode(t, "go [SEP]", -1, NULL, 0, NULL, &encoding))
        fail_msg("%s", axle_error_message());
    /* Those that stand in the text are none of the model's. */
    assert_memory_equal(encoding->special_mask, ((int64_t[]){1, 0, 0, 1}), 4 * sizeof(int64_t));
    assert_int_equal(encoding->offsets[2][0], 3);
    assert_int_equal(encoding->offsets[2][1], 8);
    axle_encoding_release(encoding);
    axle_tokenizer_release(t);
}

/* ------------------------------------------------------------------ files */

static void write_file(const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static axle_tokenizer *of_files(const char *vocabulary, const char *config)
{
    axle_tokenizer *tokenizer = NULL;
    write_file("vocab.txt", vocabulary);
    write_file("tokenizer_config.json", config);
    axle_tokenizer_open(folder, &tokenizer);
    return tokenizer;
}

#define SMALL_CONFIG                                                                               \
    "{\"tokenizer_class\": \"BertTokenizer\", \"unk_token\": \"[UNK]\", \"pad_token\": \"[PAD]\"," \
    " \"cls_token\": \"[PAD]\", \"sep_token\": \"[PAD]\", \"mask_token\": \"[PAD]\"}"

/* Of equal lines the last counts, and blank ones do, too. */
static void ids_are_numbers_of_lines(void **state)
{
    static const char *const vocabularies[] = {
        "[PAD]\n[UNK]\n\nfoo\nfoo\nbar",
        "[PAD]\r\n[UNK]\r\n\r\nfoo\r\nfoo\r\nbar\r\n",
        "[PAD]\n[UNK]\n\u2028\nfoo\nfoo\nbar\n",
    };
    (void)state;
    for (size_t k = 0; k < sizeof(vocabularies) / sizeof(vocabularies[0]); k++) {
        axle_tokenizer *t = of_files(vocabularies[k], SMALL_CONFIG);
        if (!t)
            fail_msg("%zu: %s", k, axle_error_message());
        assert_int_equal(axle_tokenizer_token_id(t, "foo"), 4);
        assert_int_equal(axle_tokenizer_token_id(t, "bar"), 5);
        assert_int_equal(axle_tokenizer_vocab_size(t), 6);
        axle_tokenizer_release(t);
    }
}

static void a_vocabulary_without_its_tokens_is_refused(void **state)
{
    (void)state;
    assert_null(of_files("foo\nbar\n", SMALL_CONFIG));
    assert_int_not_equal(axle_error_code(), AXLE_OK);
    assert_non_null(strstr(axle_error_message(), "[UNK]"));
    axle_error_clear();
}

static void added_tokens_follow_the_vocabulary(void **state)
{
    (void)state;
    axle_tokenizer *t = of_files(
        "[PAD]\n[UNK]\nfoo\n[\n]\ne\n##11\n",
        "{\"tokenizer_class\": \"BertTokenizer\", \"unk_token\": \"[UNK]\", \"pad_token\": "
        "\"[PAD]\", \"cls_token\": \"[PAD]\", \"sep_token\": \"[PAD]\", \"mask_token\": \"[PAD]\","
        " \"do_lower_case\": true, \"added_tokens_decoder\": {\"7\": {\"content\": \"[E11]\","
        " \"special\": false, \"normalized\": false, \"lstrip\": false, \"rstrip\": false,"
        " \"single_word\": false}}}");
    if (!t)
        fail_msg("%s", axle_error_message());
    assert_int_equal(axle_tokenizer_token_id(t, "[E11]"), 7);
    EXPECT_TOKENS(t, "foo[E11]foo", "foo [E11] foo");
    axle_tokenizer_release(t);
}

#define IN_FOLDER(sentence, function)                                                              \
    {                                                                                              \
        sentence, function, open_folder, close_folder, NULL                                        \
    }

static const struct CMUnitTest tests[] = {
    UNIT("accents go with capitals, unless somebody says else", accents_go_with_capitals),
    UNIT("odd characters are spaces, words or nothing", odd_characters_are_spaces_words_or_nothing),
    UNIT("words are whole or unknown, by 100 characters", words_are_whole_or_unknown),
    UNIT("special tokens are found before all else", special_tokens_are_found_first),
    IN_FOLDER("ids are numbers of lines", ids_are_numbers_of_lines),
    IN_FOLDER("a vocabulary without its tokens is refused",
              a_vocabulary_without_its_tokens_is_refused),
    IN_FOLDER("added tokens follow the vocabulary", added_tokens_follow_the_vocabulary),
};
UNIT_MAIN(tests)
