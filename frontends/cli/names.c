/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <string.h>

int names_find(const char *const *names, const char *name)
{
    for (int k = 0; names[k]; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

int names_count(const char *const *names)
{
    int count = 0;
    while (names[count])
        count++;
    return count;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Insertions, deletions and replacements that turn `a` into `b`; LONGEST for long words. */
enum { LONGEST = 63 };

static int distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > LONGEST || columns > LONGEST)
        return LONGEST;
    int row[LONGEST + 1];
    for (size_t j = 0; j <= columns; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
        }
    }
    return row[columns];
}

/* Half of the letters may be wrong. */
const char *names_nearest(const char *const *names, const char *name)
{
    const char *nearest = NULL;
    int best = (int)strlen(name) / 2 + 1;
    for (int k = 0; names[k]; k++) {
        int d = distance(names[k], name);
        if (d < best) {
            best = d;
            nearest = names[k];
        }
    }
    return nearest;
}

void names_print(const char *const *names, FILE *to)
{
    for (int k = 0; names[k]; k++)
        fprintf(to, "%s%s", k ? ", " : "", names[k]);
}
