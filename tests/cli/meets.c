/* SPDX-License-Identifier: Apache-2.0 */
/* Joins its job, waits for everyone, and leaves: for tests of how the processes of a job meet. */
#include <stdio.h>

#include "axle/axle.h"

int main(void)
{
    axle_group *group;
    if (axle_group_join(&group)) {
        fprintf(stderr, "meets: %s\n", axle_error_message());
        return 1;
    }
    int rank = axle_group_rank(group), size = axle_group_size(group);
    if (axle_barrier(group) || axle_group_leave(group)) {
        fprintf(stderr, "meets: rank %d: %s\n", rank, axle_error_message());
        return 2;
    }
    printf("%d of %d\n", rank, size);
    return 0;
}
