/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction set's loops run. */
#include "kernel.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}
#endif

static int has_generic(void)
{
    return 1;
}

typedef struct isa_entry {
    const cpu_loops *loops;
    int (*available)(void);
} isa_entry;

/* Best first. */
static const isa_entry isas[] = {
#if defined(__x86_64__)
    {&cpu_loops_avx512, has_avx512},
    {&cpu_loops_avx2, has_avx2},
#endif
    {&cpu_loops_generic, has_generic},
};

enum { ISA_COUNT = sizeof(isas) / sizeof(isas[0]) };

/* Warn once that the option names no loops of this machine. */
static void tell_of_isa(const axle_host *host)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char text[160] = "option onednn.isa is ignored, for it names none of this machine's loops:";
    for (int k = 0; k < ISA_COUNT; k++)
        if (isas[k].available())
            strcat(strcat(text, " "), isas[k].loops->isa);
    if (!atomic_flag_test_and_set(&told))
        host->log(host->ctx, AXLE_LOG_WARN, "onednn", text);
}

const cpu_loops *cpu_loops_choose(const axle_host *host)
{
    const char *wanted = host->option ? host->option(host->ctx, "onednn.isa") : NULL;
    for (int k = 0; wanted && k < ISA_COUNT; k++)
        if (strcmp(isas[k].loops->isa, wanted) == 0 && isas[k].available())
            return isas[k].loops;
    if (wanted)
        tell_of_isa(host);
    for (int k = 0; k < ISA_COUNT - 1; k++)
        if (isas[k].available())
            return isas[k].loops;
    return isas[ISA_COUNT - 1].loops;
}
