/* SPDX-License-Identifier: Apache-2.0 */
/* ARG_REDUCE: the first of the best elements along a dim; a NaN is better than all. */

/* Numbers: outputs, elements along the dim, stride of x along it, map of y and x. */
__kernel void arg_reduce(TABLE, IN(TX, x), OUT(i64, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
    const long from = map_place(P + 3, 1, i);
    NUMBER(TX) best = LOAD(TX, x, from);
    long at = 0;
    for (long j = 1; j < P[1] && best == best; j++) {
        const NUMBER(TX) v = LOAD(TX, x, from + j * P[2]);
        if (!(v WORSE best)) {
            best = v;
            at = j;
        }
    }
    y[map_place(P + 3, 0, i)] = at;
}
