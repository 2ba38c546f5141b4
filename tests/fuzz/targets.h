/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers of files that come from somewhere, to be fuzzed and to be tested with what fuzzing found.
 * A target has a folder corpus/NAME, whose files are inputs, and maybe a folder beside/NAME with
 * files that must lie beside the input.
 */
#ifndef AXLE_TESTS_FUZZ_TARGETS_H
#define AXLE_TESTS_FUZZ_TARGETS_H

#include <stddef.h>

typedef struct fuzz_target {
    const char *name;
    const char *file; /* what the input is called */
    void (*read)(const char *folder, const char *path);
} fuzz_target;

/* Ends with a NULL name. */
extern const fuzz_target fuzz_targets[];

/* NULL where there is none. */
const fuzz_target *fuzz_target_find(const char *name);

/* A fresh folder with copies of the files of `beside`, which need not exist. Returns 0. */
int fuzz_folder_create(const char *beside, char *path, size_t size);
/* Give an input to a target. Returns 0, or -1 where the file could not be written. */
int fuzz_run(const fuzz_target *target, const char *folder, const void *data, size_t size);
void fuzz_folder_remove(const char *path);

#endif
