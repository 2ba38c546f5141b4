/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fake_settings fake;

static const fake_settings initial = {
#define NUMBER(key, value, meaning) .key = (value),
    FAKE_NUMBERS(NUMBER)
#undef NUMBER
};

typedef struct number_entry {
    const char *key;
    int64_t *value;
} number_entry;

typedef struct word_entry {
    const char *key;
    char *value;
} word_entry;

static const number_entry numbers[] = {
#define NUMBER(key, value, meaning) {#key, &fake.key},
    FAKE_NUMBERS(NUMBER)
#undef NUMBER
};

static const word_entry words[] = {
#define WORD(key, meaning) {#key, fake.key},
    FAKE_WORDS(WORD)
#undef WORD
};

int fake_settings_set(const char *key, const char *value)
{
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
        if (strcmp(numbers[k].key, key) != 0)
            continue;
        *numbers[k].value = value ? strtoll(value, NULL, 0) : 1;
        return 1;
    }
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
        if (strcmp(words[k].key, key) != 0)
            continue;
        snprintf(words[k].value, FAKE_WORD_SIZE, "%s", value ? value : "");
        return 1;
    }
    return 0;
}

void fake_settings_read(const char *text)
{
    fake = initial;
    while (text && *text) {
        char key[64 + FAKE_WORD_SIZE];
        const size_t length = strcspn(text, ",;| ");
        snprintf(key, sizeof(key), "%.*s", (int)length, text);
        char *value = strchr(key, '=');
        if (value)
            *value++ = '\0';
        fake_settings_set(key, value);
        text += length + (text[length] != '\0');
    }
}

int fake_lists(const char *list, const char *word)
{
    const size_t size = strlen(word);
    while (*list) {
        const size_t length = strcspn(list, "+");
        if (length == size && strncmp(list, word, size) == 0)
            return 1;
        list += length + (list[length] != '\0');
    }
    return 0;
}
