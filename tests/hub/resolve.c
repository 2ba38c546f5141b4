/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve NAME [KEY=VALUE]...: print the folder of a model. Keys are the options of axle/hub.h, and
 * `stop`, the number of bytes of a file after which the program has enough, `together`, to ask as
 * the processes of a job, and `told`, a file that gets the last progress of each file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/hub.h"

typedef struct asked {
    axle_hub_options options;
    const char *files[8];
    long long stop;
    int together;
    FILE *told;
} asked;

static int tell(const axle_hub_progress *progress, void *user)
{
    const asked *a = user;
    if (a->told && progress->total > 0 && progress->done == progress->total)
        fprintf(a->told, "%s %d/%d %lld\n", progress->file, progress->index, progress->count,
                (long long)progress->total);
    return a->stop > 0 && progress->done >= a->stop;
}

static int take(asked *a, char *argument)
{
    char *value = strchr(argument, '=');
    if (!value)
        return 0;
    *value++ = '\0';
    const struct {
        const char *key, **text;
    } texts[] = {{"revision", &a->options.revision},
                 {"token", &a->options.token},
                 {"cache", &a->options.cache},
                 {"endpoint", &a->options.endpoint},
                 {"files", &a->files[0]}};
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
        if (strcmp(argument, texts[k].key) == 0)
            return *texts[k].text = value, 1;
    if (strcmp(argument, "timeout") == 0)
        a->options.timeout = strtod(value, NULL);
    else if (strcmp(argument, "retries") == 0)
        a->options.retries = (int)strtol(value, NULL, 10);
    else if (strcmp(argument, "offline") == 0)
        a->options.offline = 1;
    else if (strcmp(argument, "stop") == 0)
        a->stop = strtoll(value, NULL, 10);
    else if (strcmp(argument, "together") == 0)
        a->together = 1;
    else
        return strcmp(argument, "told") == 0 && (a->told = fopen(value, "w"));
    return 1;
}

int main(int argc, char **argv)
{
    asked a = {.options = AXLE_HUB_OPTIONS_INIT};
    char *folder = NULL;
    a.options.retry_wait = 0.01;
    a.options.timeout = 300.0;
    a.options.progress = tell;
    a.options.user = &a;
    for (int k = 2; k < argc; k++)
        if (!take(&a, argv[k]))
            return 2;
    if (a.files[0])
        a.options.files = a.files;
    int code = a.together ? axle_accelerator_create(NULL, &a.options.accelerator) : AXLE_OK;
    if (!code)
        code = axle_hub_resolve(argc > 1 ? argv[1] : NULL, &a.options, &folder);
    if (code)
        printf("%s: %s\n", axle_status_text(code), axle_error_message());
    else
        printf("%s\n", folder);
    if (a.told)
        fclose(a.told);
    axle_free(folder);
    axle_accelerator_release(a.options.accelerator);
    axle_finalize();
    /* A launcher would end the others before they say theirs. */
    return code && !a.together ? 1 : 0;
}
