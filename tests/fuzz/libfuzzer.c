/* SPDX-License-Identifier: Apache-2.0 */
/* For libFuzzer (tests/fuzz/run.sh): AXLE_FUZZ_TARGET names the target, and AXLE_FUZZ_BESIDE the
 * folder of what lies beside the input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const fuzz_target *target;
static char folder[256];

static void end(void)
{
    fuzz_folder_remove(folder);
}

static void begin(void)
{
    const char *name = getenv("AXLE_FUZZ_TARGET"), *beside = getenv("AXLE_FUZZ_BESIDE");
    target = fuzz_target_find(name ? name : "");
    if (!target || fuzz_folder_create(beside ? beside : "", folder, sizeof(folder))) {
        fputs("AXLE_FUZZ_TARGET names no target, or there is no room for its folder\n", stderr);
        exit(2);
    }
    atexit(end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!target)
        begin();
    if (fuzz_run(target, folder, data, size))
        abort();
    return 0;
}
