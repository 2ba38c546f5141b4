/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a JSON value, for shell tests:
 *
 *     json FILE KEY...      the member there; a number for an array's element
 *     json FILE KEY... '*' NAME...
 *                           of each element of an array, its members of those names, on one line
 *
 * Strings are printed without quotes. Exits 1 where the file is no JSON or has no such member.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print(const json_t *value)
{
    if (!value)
        return EXIT_FAILURE;
    if (json_is_string(value))
        fputs(json_string_value(value), stdout);
    else
        json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_COMPACT);
    return EXIT_SUCCESS;
}

static int print_each(const json_t *array, char **names)
{
    size_t k;
    json_t *element;
    json_array_foreach(array, k, element)
    {
        for (char **name = names; *name; name++) {
            if (name != names)
                putchar(' ');
            print(json_object_get(element, *name));
        }
        putchar('\n');
    }
    return json_is_array(array) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static json_t *member(const json_t *value, const char *key)
{
    if (json_is_array(value))
        return json_array_get(value, (size_t)strtoul(key, NULL, 10));
    return json_object_get(value, key);
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root = argc > 1 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;
    if (!root) {
        fprintf(stderr, "json: %s\n", argc > 1 ? error.text : "no file is given");
        return EXIT_FAILURE;
    }
    const json_t *value = root;
    char **key = argv + 2;
    while (*key && value && strcmp(*key, "*") != 0)
        value = member(value, *key++);
    int code = *key && value ? print_each(value, key + 1) : print(value);
    if (!*key)
        putchar('\n');
    json_decref(root);
    return code;
}
