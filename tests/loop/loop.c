/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

int loop_rank, loop_size;

static const loop_check *const topics[] = {
    loop_state,        loop_split,       loop_loading, loop_streams,   loop_equality,
    loop_accumulation, loop_collectives, loop_uneven,  loop_precision, loop_checkpoints,
};
enum { TOPICS = sizeof(topics) / sizeof(topics[0]) };

/* ------------------------------------------------------------------ what went wrong here */

enum { NOTE_SIZE = 1400 };
static char note[NOTE_SIZE];

int loop_failed(const char *file, int line, const char *what)
{
    const char *slash = strrchr(file, '/');
    snprintf(note, sizeof(note), "%s:%d: %s (%.1000s)", slash ? slash + 1 : file, line, what,
             axle_error_message());
    return 1;
}

int loop_refused(int status, int code, const char *part)
{
    bool fits = status == code && strstr(axle_error_message(), part);
    if (fits)
        axle_error_clear();
    return fits;
}

/* ------------------------------------------------------------------ running */

/* Whether the check went well on all processes; the main one tells. */
static int tell(axle_group *group, const loop_check *check, int number, bool *good)
{
    size_t *sizes = calloc((size_t)loop_size, sizeof(*sizes));
    void *texts = NULL;
    int status = sizes ? axle_gather_bytes(group, note, strlen(note), &texts, sizes)
                       : axle_error_set(AXLE_ERR_NOMEM, "no memory");
    *good = status == AXLE_OK;
    for (int k = 0; k < loop_size && !status; k++)
        *good = *good && sizes[k] == 0;
    if (loop_rank == 0 && !status)
        printf("%sok %d - (%s) %s\n", *good ? "" : "not ", number, check->number, check->name);
    const char *text = texts;
    for (int k = 0; k < loop_size && !status; text += sizes[k++])
        if (loop_rank == 0 && sizes[k])
            printf("# rank %d: %.*s\n", k, (int)sizes[k], text);
    fflush(stdout);
    axle_free(texts);
    free(sizes);
    return status;
}

static int run_one(axle_group *group, const loop_check *check, int number, bool *good)
{
    note[0] = '\0';
    int depth = axle_scope_depth();
    axle_scope_push();
    check->run();
    while (axle_scope_depth() > depth)
        axle_scope_pop();
    axle_error_clear();
    axle_set_default_dtype(AXLE_DTYPE_F32);
    return tell(group, check, number, good);
}

static int run_all(axle_group *group)
{
    int number = 0, status = AXLE_OK;
    bool all = true, good;
    for (int k = 0; k < TOPICS; k++)
        for (const loop_check *check = topics[k]; check->name && !status; check++) {
            status = run_one(group, check, ++number, &good);
            all = all && good;
        }
    if (status && loop_rank == 0)
        printf("Bail out! rank %d: %s\n", loop_rank, axle_error_message());
    else if (loop_rank == 0)
        printf("1..%d\n", number);
    return status || !all;
}

int main(void)
{
    axle_group *group;
    if (axle_group_join(&group)) {
        printf("Bail out! %s\n", axle_error_message());
        return 1;
    }
    loop_rank = axle_group_rank(group);
    loop_size = axle_group_size(group);
    int failed = run_all(group);
    return axle_group_leave(group) || failed;
}
