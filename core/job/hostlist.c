/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as Slurm writes them. */
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "job/membership.h"

int axle__hostlist_first(const char *list, char *host, size_t size)
{
    size_t length = 0;
    const char *next = list;
    while (*next && *next != ',' && length + 1 < size) {
        if (*next != '[') {
            host[length++] = *next++;
            continue;
        }
        const char *end = strchr(next, ']');
        size_t first = strcspn(next + 1, "-,]");
        if (!end || first == 0 || length + first >= size)
            break;
        memcpy(host + length, next + 1, first);
        length += first;
        next = end + 1;
    }
    if (length == 0 || (*next && *next != ','))
        return axle_error_set(AXLE_ERR_INVALID, "'%s' names no host", list);
    host[length] = '\0';
    return AXLE_OK;
}

int axle__tasks_of_node(const char *list, int node)
{
    const char *next = list;
    while (*next >= '0' && *next <= '9') {
        char *end;
        long tasks = strtol(next, &end, 10), times = 1;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtol(end + 2, &end, 10);
            end += *end == ')';
        }
        if (times < 1 || tasks < 1 || tasks > 1 << 20)
            return 0;
        if (node < times)
            return (int)tasks;
        node -= (int)times;
        next = end + (*end == ',');
    }
    return 0;
}
