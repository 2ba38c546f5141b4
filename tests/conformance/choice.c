/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/choice.h"

#include <stdio.h>
#include <string.h>

static char **names;
static int n_names;
static size_t part = 1, parts = 1;

bool choice_read(int argc, char **argv)
{
    names = argv + 1;
    n_names = 0;
    for (int k = 1; k < argc; k++)
        if (!strchr(argv[k], '/'))
            names[n_names++] = argv[k];
        else if (sscanf(argv[k], "%zu/%zu", &part, &parts) != 2 || part < 1 || part > parts)
            return false;
    return true;
}

bool choice_has(const char *name)
{
    for (int k = 0; k < n_names; k++)
        if (strcmp(names[k], name) == 0)
            return true;
    return n_names == 0;
}

bool choice_has_case(size_t k)
{
    return k % parts == part - 1;
}
