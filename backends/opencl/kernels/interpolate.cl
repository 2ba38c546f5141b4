/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest-neighbour resizing of three spatial dims, and its gradient. The first operand is what is
 * read. Numbers: planes, its dims (3), the dims of what is written (3), maps of the planes of
 * both, of the places of each. */
#define FROM_DIM(d) P[1 + (d)]
#define TO_DIM(d) P[4 + (d)]
#define PLANES (P + 7)
#define FROM_STEP(d) PLANES[MAP_SIZE(3) + 1 + MAP_DIMS + (d)]
#define TO_SPACE (PLANES + 2 * MAP_SIZE(3))

__kernel void interpolate(TABLE, IN(TX, x), OUT(TX, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    const long id = get_global_id(0), plane = TO_DIM(0) * TO_DIM(1) * TO_DIM(2);
    if (id >= P[0] * plane)
        return;
    const long p = id / plane, o = id % plane;
    const long i0 = o / TO_DIM(2) / TO_DIM(1) * FROM_DIM(0) / TO_DIM(0);
    const long i1 = o / TO_DIM(2) % TO_DIM(1) * FROM_DIM(1) / TO_DIM(1);
    const long i2 = o % TO_DIM(2) * FROM_DIM(2) / TO_DIM(2);
    const real v = LOAD(TX, x, map_place(PLANES, 0, p) + i0 * FROM_STEP(0) + i1 * FROM_STEP(1) +
                                   i2 * FROM_STEP(2));
    STORE(TX, y, map_place(PLANES, 2, p) + map_place(TO_SPACE, 0, o), v);
}

/* The places of dy that took place q of a dim are [from, to). */
#define FIRST(d, q) (((q)*FROM_DIM(d) + TO_DIM(d) - 1) / TO_DIM(d))
__kernel void interpolate_backward(TABLE, IN(TX, dy), OUT(TX, dx))
{
    ENTER;
    OPERAND(dy);
    OPERAND(dx);
    const long id = get_global_id(0), plane = TO_DIM(0) * TO_DIM(1) * TO_DIM(2);
    if (id >= P[0] * plane)
        return;
    const long p = id / plane, o = id % plane;
    const long q0 = o / TO_DIM(2) / TO_DIM(1), q1 = o / TO_DIM(2) % TO_DIM(1), q2 = o % TO_DIM(2);
    const long from = map_place(PLANES, 0, p);
    wide sum = 0;
    for (long i = FIRST(0, q0); i < FIRST(0, q0 + 1); i++)
        for (long j = FIRST(1, q1); j < FIRST(1, q1 + 1); j++)
            for (long k = FIRST(2, q2); k < FIRST(2, q2 + 1); k++)
                sum += LOAD(TX, dy, from + i * FROM_STEP(0) + j * FROM_STEP(1) + k * FROM_STEP(2));
    STORE(TX, dx, map_place(PLANES, 2, p) + map_place(TO_SPACE, 0, o), (real)sum);
}
