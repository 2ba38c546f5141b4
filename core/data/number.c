/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "data/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"

static locale_t previous_of(void *saved)
{
    return (locale_t)saved;
}

bool axle__number_begin(void **saved)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        axle_error_set(AXLE_ERR_NOMEM, "no memory for a locale");
        return false;
    }
    *saved = (void *)uselocale(plain);
    return true;
}

void axle__number_end(void *saved)
{
    freelocale(uselocale(previous_of(saved)));
}

const char *axle__number_parse(const char *text, double *out)
{
    char *end;
    while (*text == ' ' || *text == '\t')
        text++;
    if (*text == '\0')
        return "it is empty";
    /* strtod also takes hexadecimal numbers and names of what is not finite. */
    if (strspn(text, "+-.0123456789eE \t") != strlen(text))
        return "it is not a number";
    double value = strtod(text, &end);
    if (end == text || end[strspn(end, " \t")] != '\0')
        return "it is not a number";
    if (!isfinite(value))
        return "it is too large";
    *out = value;
    return NULL;
}

const char *axle__number_parse_integer(const char *text, int64_t *out)
{
    double value;
    const char *problem = axle__number_parse(text, &value);
    if (problem)
        return problem;
    /* Beyond 2^53 a double no longer tells neighbours apart. */
    if (value != floor(value) || fabs(value) > 0x1p53)
        return "it is not a whole number";
    *out = (int64_t)value;
    return NULL;
}
