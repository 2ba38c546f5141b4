/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of a backend: is it what backend.h and backend_ops.h ask for? The check is a host of
 * its own. It loads the plugin in a child process, runs rows one by one, and compares what
 * operators give with the reference backend. A row that crashes or hangs costs that child only.
 *
 * A row is a behaviour, or one case of an operator in one element type. Its inputs follow from the
 * seed and the row's name alone, so running fewer rows changes nothing about the others.
 */
#ifndef AXLE_CHECK_CHECK_H
#define AXLE_CHECK_CHECK_H

#include <stddef.h>
#include <stdint.h>

typedef struct check_options {
    const char *path;      /* of the plugin; NULL is the built-in reference */
    int64_t device;        /* -1: all of them */
    const char *op;        /* an operator or a group of rows; NULL: all */
    const char *dtype;     /* NULL: all; else rows without an element type are left out */
    int64_t seed, limit_s; /* seconds that a row may take */
    int quick;             /* fewer shapes and layouts */
} check_options;

typedef enum check_status {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_HOST, /* the plugin does not offer it, so the host does it */
} check_status;

typedef struct check_result {
    uint32_t device;
    const char *group, *dtype; /* dtype is "" in rows of no element type */
    const char *name;
    check_status status;
    char *message; /* what is wrong; NULL */
} check_result;

typedef struct check_report {
    char plugin[64], version[64]; /* as the plugin calls itself */
    uint32_t device_count;
    char (*device_names)[128];
    size_t count;
    check_result *results;
    size_t passed, failed, host;
} check_report;

/* Called before each row. */
typedef void (*check_progress_fn)(void *user, const check_result *row, size_t done, size_t count);

/*
 * Run the rows, or with `list` only say which there are (statuses then mean nothing). Returns 0
 * where the report is complete, whatever it says; else -1 with the reason in `why`.
 */
int check_run(const check_options *options, int list, check_progress_fn progress, void *user,
              check_report *out, char why[512]);
void check_report_free(check_report *report);

/* What `op` and `dtype` of the options may be; ended by NULL. */
const char *const *check_group_names(void);
const char *const *check_dtype_names(void);

#endif
