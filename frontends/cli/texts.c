/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"

/* Those gathered so far. */
typedef struct gathered {
    const text_source *source;
    texts_fn *take;
    void *user;
    char **texts;
    const char **pairs;
    int64_t count;
} gathered;

/* Cut each line in two at its first tab. */
static int split_pairs(gathered *g)
{
    for (int64_t k = 0; k < g->count; k++) {
        char *tab = strchr(g->texts[k], '\t');
        if (!tab)
            return axle_error_set(AXLE_ERR_FORMAT, "--pairs: there is no tab in '%.60s'",
                                  g->texts[k]);
        *tab = '\0';
        g->pairs[k] = tab + 1;
    }
    return AXLE_OK;
}

static void forget(gathered *g)
{
    while (g->count > 0)
        free(g->texts[--g->count]);
}

static int hand_on(gathered *g)
{
    if (g->count == 0)
        return AXLE_OK;
    int code = g->source->pairs ? split_pairs(g) : AXLE_OK;
    if (!code)
        code = g->take(g->user, (const char *const *)g->texts, g->source->pairs ? g->pairs : NULL,
                       g->count);
    forget(g);
    return code;
}

static int add(gathered *g, const char *text, int64_t most)
{
    char *line = strdup(text);
    if (!line)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    line[strcspn(line, "\n")] = '\0';
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\r')
        line[length - 1] = '\0';
    g->texts[g->count++] = line;
    return g->count == most ? hand_on(g) : AXLE_OK;
}

static int add_arguments(gathered *g)
{
    const option_list *operands = g->source->operands;
    int code = AXLE_OK;
    for (int k = 1; k < operands->count && !code; k++)
        code = add(g, operands->item[k], g->source->most);
    return code ? code : hand_on(g);
}

static int add_stream(gathered *g, FILE *stream, const char *name, int64_t most)
{
    char *line = NULL;
    size_t room = 0;
    int code = AXLE_OK;
    errno = 0;
    while (!code && getline(&line, &room, stream) >= 0)
        code = add(g, line, most);
    if (!code && ferror(stream))
        code = axle_error_set(AXLE_ERR_IO, "%s: %s", name, strerror(errno));
    free(line);
    return code ? code : hand_on(g);
}

static int add_all(gathered *g)
{
    const char *name = g->source->file;
    if (g->source->operands->count > 1)
        return add_arguments(g);
    if (!name || strcmp(name, "-") == 0)
        return add_stream(g, stdin, "standard input", 1);
    FILE *file = fopen(name, "r");
    if (!file)
        return axle_error_set(errno == ENOENT ? AXLE_ERR_NOT_FOUND : AXLE_ERR_IO, "%s: %s", name,
                              strerror(errno));
    int code = add_stream(g, file, name, g->source->most);
    fclose(file);
    return code;
}

int texts_each(const text_source *source, texts_fn *take, void *user)
{
    gathered g = {.source = source, .take = take, .user = user};
    g.texts = calloc((size_t)source->most, sizeof(*g.texts));
    g.pairs = calloc((size_t)source->most, sizeof(*g.pairs));
    int code = g.texts && g.pairs ? add_all(&g) : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    forget(&g);
    free(g.texts);
    free(g.pairs);
    return code;
}
