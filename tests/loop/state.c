/* SPDX-License-Identifier: Apache-2.0 */
/* The state, and who does what. */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

static int lives_twice(void)
{
    axle_accelerator *one, *two;
    if (loop_open(NULL, &one) || loop_open(NULL, &two))
        return 1;
    EXPECT(axle_process_count(one) == loop_size && axle_process_count(two) == loop_size);
    EXPECT(axle_process_index(one) == loop_rank && axle_process_index(two) == loop_rank);
    axle_accelerator_release(one);
    EXPECT(axle_wait_for_everyone(two) == AXLE_OK);
    axle_accelerator_release(two);
    if (loop_open(NULL, &one))
        return 1;
    EXPECT(axle_process_count(one) == loop_size);
    axle_accelerator_release(one);
    return 0;
}

static int ends_once(void)
{
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    EXPECT(axle_end_training(acc) == AXLE_OK);
    EXPECT(loop_refused(axle_wait_for_everyone(acc), AXLE_ERR_STATE, "the training was ended"));
    int set;
    EXPECT(loop_refused(axle_check_trigger(acc, &set), AXLE_ERR_STATE, "was ended"));
    axle_accelerator_release(acc);
    return 0;
}

/* A file of everyone's, which the main process makes. */
static int shared_file(axle_accelerator *acc, char *path, size_t size)
{
    if (axle_is_main_process(acc)) {
        const char *folder = getenv("TMPDIR");
        snprintf(path, size, "%s/axle-loop.XXXXXX", folder ? folder : "/tmp");
        int fd = mkstemp(path);
        EXPECT(fd >= 0 && close(fd) == 0);
    }
    return loop_share_path(acc, path, size);
}

/* What all wrote to the file, which is then gone. */
static int take_file(axle_accelerator *acc, const char *path, char *text, size_t size)
{
    EXPECT(axle_wait_for_everyone(acc) == AXLE_OK);
    FILE *file = fopen(path, "r");
    EXPECT(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    EXPECT(axle_wait_for_everyone(acc) == AXLE_OK);
    axle_on_main_process(acc) unlink(path);
    return 0;
}

static int append(const char *path, const char *line)
{
    FILE *file = fopen(path, "a");
    EXPECT(file && fputs(line, file) >= 0);
    EXPECT(fclose(file) == 0);
    return 0;
}

static int goes_first(void)
{
    axle_accelerator *acc;
    char path[256], text[512];
    if (loop_open(NULL, &acc) || shared_file(acc, path, sizeof(path)))
        return 1;
    EXPECT(axle_main_process_first_begin(acc, 0) == AXLE_OK);
    axle_on_main_process(acc) nanosleep(&(struct timespec){0, 100000000}, NULL);
    if (append(path, axle_is_main_process(acc) ? "main\n" : "other\n"))
        return 1;
    EXPECT(axle_main_process_first_end(acc, 0) == AXLE_OK);
    if (take_file(acc, path, text, sizeof(text)))
        return 1;
    EXPECT(strncmp(text, "main\n", 5) == 0);
    for (int k = 1; k < loop_size; k++)
        EXPECT(strncmp(text + 5 + 6 * (k - 1), "other\n", 6) == 0);
    EXPECT(strlen(text) == 5 + 6 * (size_t)(loop_size - 1));
    axle_accelerator_release(acc);
    return 0;
}

/* Each word is 1 where it was this process's turn. */
static int runs_on_one(void)
{
    axle_accelerator *acc;
    int done[4] = {0}, last = loop_size - 1;
    if (loop_open(NULL, &acc))
        return 1;
    axle_on_main_process(acc) done[0] = 1;
    axle_on_local_main_process(acc) done[1] = 1;
    axle_on_last_process(acc) done[2] = 1;
    axle_on_process(acc, last / 2)
    {
        done[3] = 1;
    }
    EXPECT(done[0] == (loop_rank == 0) && done[2] == (loop_rank == last));
    EXPECT(done[1] == axle_is_local_main_process(acc) && done[3] == (loop_rank == last / 2));
    axle_accelerator_release(acc);
    return 0;
}

static int prints_once(void)
{
    axle_accelerator *acc;
    char path[256], text[512];
    if (loop_open(NULL, &acc) || shared_file(acc, path, sizeof(path)))
        return 1;
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), file = open(path, O_WRONLY | O_APPEND);
    EXPECT(kept >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    axle_print(acc, "one of %d\n", axle_process_count(acc));
    int back = dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    EXPECT(back >= 0);
    if (take_file(acc, path, text, sizeof(text)))
        return 1;
    char expected[32];
    snprintf(expected, sizeof(expected), "one of %d\n", loop_size);
    EXPECT(strcmp(text, expected) == 0);
    axle_accelerator_release(acc);
    return 0;
}

static int triggers(void)
{
    axle_accelerator *acc;
    int is_set;
    if (loop_open(NULL, &acc))
        return 1;
    EXPECT(axle_check_trigger(acc, &is_set) == AXLE_OK && !is_set);
    for (int k = 0; k < loop_size; k++) {
        axle_on_process(acc, k) axle_set_trigger(acc);
        EXPECT(axle_check_trigger(acc, &is_set) == AXLE_OK && is_set);
        EXPECT(axle_check_trigger(acc, &is_set) == AXLE_OK && !is_set);
    }
    axle_accelerator_release(acc);
    return 0;
}

const loop_check loop_state[] = {
    {"1", "accelerators live beside and after each other", lives_twice},
    {"1", "use after the end is an error that names the cause", ends_once},
    {"2", "the main process goes first", goes_first},
    {"2", "what is for one process runs on that one", runs_on_one},
    {"2", "what is printed is printed once", prints_once},
    {"3", "a trigger set on one process is seen by all, once", triggers},
    {NULL, NULL, NULL},
};
