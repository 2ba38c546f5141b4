/* SPDX-License-Identifier: Apache-2.0 */
/* MATMUL, one element of y a work-item: for shapes and types that no blocked kernel serves. */

/* Numbers: batches, M, N, K, strides of row and column of a, b, bias, y, whether there is a bias,
 * map of the batch dims (a, b, bias, y). */
__kernel void matmul(TABLE, IN(T, a), IN(T, b), IN(T, bias), OUT(T, y), real alpha)
{
    ENTER;
    OPERAND(a);
    OPERAND(b);
    OPERAND(bias);
    OPERAND(y);
    const long id = get_global_id(0);
    const long m = P[1], n = P[2], k = P[3];
    if (id >= P[0] * m * n)
        return;
    const long column = id % n, row = id / n % m, batch = id / n / m;
    __constant const long *stride = P + 4, *map = P + 13;
    const long ia = map_place(map, 0, batch) + row * stride[0];
    const long ib = map_place(map, 1, batch) + column * stride[3];
    const long iy = map_place(map, 3, batch) + row * stride[6] + column * stride[7];
    wide sum = 0;
    for (long j = 0; j < k; j++)
        sum += (wide)LOAD(T, a, ia + j * stride[1]) * (wide)LOAD(T, b, ib + j * stride[2]);
    real v = (real)(sum * (wide)alpha);
    if (P[12])
        v += LOAD(T, bias, map_place(map, 2, batch) + row * stride[4] + column * stride[5]);
#ifdef ACCUMULATE
    STORE(T, y, iy, LOAD(T, y, iy) + v);
#else
    STORE(T, y, iy, ACTIVATE(v));
#endif
}
