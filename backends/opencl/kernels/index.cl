/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GATHER, INDEX_SELECT and EMBEDDING pick; SCATTER and INDEX_ADD put, a line along the axis a
 * work-item, in order; ONE_HOT. An index out of range picks and puts nothing and is reported.
 * TX is the element type, TI that of indices.
 */

/* Numbers: elements of y, places of x along the axis, stride of x along it, map of y, x (without
 * the axis) and index. */
__kernel void pick(TABLE, IN(TX, x), IN(TI, index), OUT(TX, y), FAULT)
{
    ENTER;
    OPERAND(x);
    OPERAND(index);
    OPERAND(y);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
    const long at = LOAD(TI, index, map_place(P + 3, 2, i));
    if (at < 0 || at >= P[1]) {
        raise(faults, OP, at, P[1]);
        return;
    }
    STORE(TX, y, map_place(P + 3, 0, i), LOAD(TX, x, map_place(P + 3, 1, i) + at * P[2]));
}

/*
 * Numbers: lines, items of a line, places of y along the axis, strides along it of y, src and
 * index, index that is left out, map of the lines (y, src, index). PUT_ADD adds; TY, the type of y,
 * then may be wider than that of src.
 */
__kernel void put(TABLE, IN(TI, index), IN(TX, src), OUT(TY, y), FAULT)
{
    ENTER;
    OPERAND(index);
    OPERAND(src);
    OPERAND(y);
    const long line = get_global_id(0);
    if (line >= P[0])
        return;
    const long iy = map_place(P + 7, 0, line), is = map_place(P + 7, 1, line);
    const long ii = map_place(P + 7, 2, line);
    for (long j = 0; j < P[1]; j++) {
        const long at = LOAD(TI, index, ii + j * P[5]);
        if (at == P[6])
            continue;
        if (at < 0 || at >= P[2]) {
            raise(faults, OP, at, P[2]);
            continue;
        }
        const NUMBER(TX) v = LOAD(TX, src, is + j * P[4]);
        const long to = iy + at * P[3];
#ifdef PUT_ADD
        STORE(TY, y, to, LOAD(TY, y, to) + v);
#else
        STORE(TY, y, to, v);
#endif
    }
}

/* Numbers: elements of y, classes, bits of a 1, map of y and ids. */
__kernel void one_hot(TABLE, IN(TI, ids), OUT(TX, y), FAULT)
{
    ENTER;
    OPERAND(ids);
    OPERAND(y);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
    const long id = LOAD(TI, ids, map_place(P + 3, 1, i)), c = i % P[1];
    if (c == 0 && (id < 0 || id >= P[1]))
        raise(faults, OP, id, P[1]);
    STORE(TX, y, map_place(P + 3, 0, i), (NUMBER(TX))(id == c ? P[2] : 0));
}

/* Numbers: elements, map of both. Copies to a dense array, or back. */
__kernel void spread(TABLE, IN(TX, x), OUT(TY, y))
{
    ENTER;
    OPERAND(x);
    OPERAND(y);
    const long i = get_global_id(0);
    if (i >= P[0])
        return;
#ifdef ZERO
    STORE(TY, y, map_place(P + 1, 1, i), 0);
#else
    STORE(TY, y, map_place(P + 1, 1, i), LOAD(TX, x, map_place(P + 1, 0, i)));
#endif
}
