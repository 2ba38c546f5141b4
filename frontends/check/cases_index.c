/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that take positions. Those outside a range have to be reported. */
#include "case.h"

#define PADDING(id) ATTRS(axle_embedding_attrs, .padding_idx = (id))
#define AXIS(number, adds) ATTRS(axle_index_attrs, .axis = (number), .accumulate = (adds))

#define INDEXED(OP, label, input, output, attributes, ...)                                         \
    {                                                                                              \
        .op = AXLE_OP_##OP, .name = label, .in = input, .out = output, .attrs = attributes,        \
        .flags = __VA_ARGS__                                                                       \
    }

const op_case cases_index[] = {
    INDEXED(EMBEDDING, "i64", "x:any(9,5) i64:below(13)=9", "x(13,5)", PADDING(-1), CASE_EXACT),
    INDEXED(EMBEDDING, "i32", "x:any(9,33) i32:below(6)=9", "x(6,33)", PADDING(2), CASE_EXACT),
    INDEXED(EMBEDDING, "of no id", "x:any(9,5) i64:below(0)=9", "x(0,5)", PADDING(-1), CASE_EXACT),
    INDEXED(EMBEDDING, "outside", "x:any(9,5) i64:outside(13)=9", "x(13,5)", PADDING(-1),
            CASE_BAD_INDEX),
    INDEXED(EMBEDDING, "negative", "x:any(9,5) i32:negative(13)=9", "x(13,5)", PADDING(-1),
            CASE_BAD_INDEX),
    INDEXED(EMBEDDING_BACKWARD, "i64", "x:any(13,5) i64:below(13)=9", "x(9,5)", PADDING(-1), 0),
    INDEXED(EMBEDDING_BACKWARD, "i32, padded", "x:any(33,7) i32:below(33)=4", "x(4,7)", PADDING(2),
            0),
    INDEXED(EMBEDDING_BACKWARD, "of no id", "x:any(0,5) i64:below(0)=9", "x(9,5)", PADDING(-1), 0),
    INDEXED(EMBEDDING_BACKWARD, "outside", "x:any(13,5) i64:outside(13)=9", "x(9,5)", PADDING(-1),
            CASE_BAD_INDEX),
    INDEXED(GATHER, "along the last dim", "x:any(3,7) i64:below(3,4)=7", "x(3,4)", AXIS(1, 0),
            CASE_EXACT),
    INDEXED(GATHER, "along the first dim", "x:any(5,3,2) i32:below(8,3,2)=5", "x(8,3,2)",
            AXIS(0, 0), CASE_EXACT),
    INDEXED(GATHER, "outside", "x:any(3,7) i64:outside(3,4)=7", "x(3,4)", AXIS(1, 0),
            CASE_BAD_INDEX),
    INDEXED(SCATTER, "each once", "i64:once(1,6)=6 x:any(1,6)", "+x:any(1,6)", AXIS(1, 0),
            CASE_EXACT),
    INDEXED(SCATTER, "the last one wins", "i64:below(3,9)=4 x:any(3,9)", "+x:any(3,4)", AXIS(1, 0),
            CASE_EXACT),
    INDEXED(SCATTER, "accumulated", "i64:below(3,9)=4 x:any(3,9)", "+x:any(3,4)", AXIS(1, 1), 0),
    INDEXED(SCATTER, "accumulated along the first dim", "i32:below(7,3)=5 x:any(7,3)",
            "+x:any(5,3)", AXIS(0, 1), 0),
    INDEXED(SCATTER, "outside", "i64:outside(3,9)=4 x:any(3,9)", "+x:any(3,4)", AXIS(1, 1),
            CASE_BAD_INDEX),
    INDEXED(INDEX_SELECT, "of rows", "x:any(5,7) i64:below(9)=5", "x(9,7)", AXIS(0, 0), CASE_EXACT),
    INDEXED(INDEX_SELECT, "of columns", "x:any(3,5,4) i32:below(3)=5", "x(3,3,4)", AXIS(1, 0),
            CASE_EXACT),
    INDEXED(INDEX_SELECT, "outside", "x:any(5,7) i64:outside(9)=5", "x(9,7)", AXIS(0, 0),
            CASE_BAD_INDEX),
    INDEXED(INDEX_ADD, "to rows", "i64:below(9)=5 x:any(9,7)", "+x:any(5,7)", AXIS(0, 0), 0),
    INDEXED(INDEX_ADD, "to columns", "i32:below(6)=4 x:any(3,6,2)", "+x:any(3,4,2)", AXIS(1, 0), 0),
    INDEXED(INDEX_ADD, "outside", "i64:outside(9)=5 x:any(9,7)", "+x:any(5,7)", AXIS(0, 0),
            CASE_BAD_INDEX),
    INDEXED(ONE_HOT, "i64", "i64:below(9)=5", "x(9,5)", NULL, CASE_EXACT),
    INDEXED(ONE_HOT, "i32", "i32:below(2,3)=7", "x(2,3,7)", NULL, CASE_EXACT),
    INDEXED(ONE_HOT, "outside", "i64:outside(9)=5", "x(9,5)", NULL, CASE_BAD_INDEX),
    {0}};
