/* SPDX-License-Identifier: Apache-2.0 */
#include "operand.h"
#include "element.h"

const axle_view *ref_operand_in(const ref_call *call, uint32_t k)
{
    return ref_operand(call->args->in, call->args->n_in, k);
}

const axle_view *ref_operand_out(const ref_call *call, uint32_t k)
{
    return ref_operand(call->args->out, call->args->n_out, k);
}

static int letter_fits(char letter, const axle_view *view, uint32_t base)
{
    uint32_t stat = base == AXLE_DTYPE_F64 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32;
    return (letter == 'f' && view->dtype == base) || (letter == 's' && view->dtype == stat) ||
           (letter == 'r' && ref_is(view, REF_FLOAT_MASK)) ||
           (letter == 'i' && ref_is(view, REF_INDEX_MASK)) ||
           (letter == 'm' && (view->dtype == AXLE_DTYPE_BOOL || view->dtype == base)) ||
           (letter == 'j' && view->dtype == AXLE_DTYPE_I32);
}

static int operands_fit(const char *letters, const axle_view *const *view, uint32_t n,
                        uint32_t base)
{
    uint32_t k = 0;
    for (; *letters; letters++, k++) {
        char letter = *letters;
        int optional = letters[1] == '?';
        const axle_view *operand = k < n ? view[k] : NULL;
        if (operand ? !letter_fits(letter, operand, base) : !optional)
            return 0;
        letters += optional;
    }
    for (; k < n; k++)
        if (view[k])
            return 0;
    return 1;
}

int ref_signature_fits(const axle_op_desc *desc, const char *in, const char *out)
{
    if (!desc->n_in || !ref_is(desc->in[0], REF_FLOAT_MASK))
        return 0;
    uint32_t base = desc->in[0]->dtype;
    return operands_fit(in, desc->in, desc->n_in, base) &&
           operands_fit(out, desc->out, desc->n_out, base);
}

int64_t ref_view_at(const axle_view *view, uint32_t first, uint32_t last, int64_t index)
{
    int64_t at = 0;
    while (last-- > first) {
        int64_t dim = view->dim[last];
        at += index % dim * view->stride[last];
        index /= dim;
    }
    return at;
}

int64_t ref_row_at(const axle_view *view, uint32_t axis, int64_t index)
{
    int64_t inner = ref_box_count(view, axis + 1);
    return ref_view_at(view, 0, axis, index / inner) +
           ref_view_at(view, axis + 1, view->rank, index % inner);
}

#define RUN_FUNCTIONS(name, suffix, type, wide, unused)                                            \
    static void load_##suffix(const void *data, int64_t at, int64_t n, int64_t stride, double *to) \
    {                                                                                              \
        const type *x = (const type *)data + at;                                                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = (double)ref_get_##suffix(x[i * stride]);                                       \
    }                                                                                              \
    static void store_##suffix(void *data, int64_t at, int64_t n, int64_t stride,                  \
                               const double *from)                                                 \
    {                                                                                              \
        type *y = (type *)data + at;                                                               \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i * stride] = ref_put_##suffix((wide)from[i]);                                       \
    }
REF_TYPES(RUN_FUNCTIONS, )

typedef struct run_access {
    void (*load)(const void *data, int64_t at, int64_t n, int64_t stride, double *to);
    void (*store)(void *data, int64_t at, int64_t n, int64_t stride, const double *from);
} run_access;

#define RUN_ROW(name, suffix, type, wide, unused)                                                  \
    [AXLE_DTYPE_##name] = {load_##suffix, store_##suffix},
static const run_access run_table[] = {REF_TYPES(RUN_ROW, )};

void ref_run_load(const axle_view *view, int64_t at, int64_t n, int64_t stride, double *out)
{
    if (n > 0)
        run_table[view->dtype].load(ref_data(view), at, n, stride, out);
}

void ref_run_store(const axle_view *view, int64_t at, int64_t n, int64_t stride, const double *in)
{
    if (n > 0)
        run_table[view->dtype].store(ref_data(view), at, n, stride, in);
}

/* The longest run that the trailing dims form: its length and stride, and the dim where it begins.
 */
static uint32_t box_run(const axle_view *view, uint32_t first, int64_t *n, int64_t *stride)
{
    uint32_t k = view->rank;
    *n = 1;
    *stride = 1;
    for (; k > first; k--) {
        int64_t dim = view->dim[k - 1], step = view->stride[k - 1];
        if (*n == 1)
            *stride = step;
        else if (dim != 1 && step != *stride * *n)
            break;
        *n *= dim;
    }
    return k;
}

int64_t ref_box_count(const axle_view *view, uint32_t first)
{
    int64_t count = 1;
    for (uint32_t k = first; k < view->rank; k++)
        count *= view->dim[k];
    return count;
}

void ref_box_load(const axle_view *view, uint32_t first, int64_t at, double *out)
{
    int64_t n, stride;
    uint32_t last = box_run(view, first, &n, &stride);
    int64_t runs = n ? ref_box_count(view, first) / n : 0;
    for (int64_t i = 0; i < runs; i++)
        ref_run_load(view, at + ref_view_at(view, first, last, i), n, stride, out + i * n);
}

void ref_box_store(const axle_view *view, uint32_t first, int64_t at, const double *in)
{
    int64_t n, stride;
    uint32_t last = box_run(view, first, &n, &stride);
    int64_t runs = n ? ref_box_count(view, first) / n : 0;
    for (int64_t i = 0; i < runs; i++)
        ref_run_store(view, at + ref_view_at(view, first, last, i), n, stride, in + i * n);
}

double ref_element_get(const axle_view *view, int64_t at)
{
    double value;
    ref_run_load(view, at, 1, 1, &value);
    return value;
}

void ref_element_set(const axle_view *view, int64_t at, double value)
{
    ref_run_store(view, at, 1, 1, &value);
}

int64_t ref_element_index(const axle_view *view, int64_t at)
{
    if (view->dtype == AXLE_DTYPE_I64)
        return ((const int64_t *)ref_data(view))[at];
    return ((const int32_t *)ref_data(view))[at];
}

void ref_vector_load(const axle_view *view, int64_t n, double absent, double *out)
{
    if (view) {
        ref_run_load(view, 0, n, view->stride[0], out);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = absent;
}

int64_t ref_count_times(int64_t a, int64_t b)
{
    return a > 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

int64_t ref_count_plus(int64_t a, int64_t b)
{
    return b > INT64_MAX - a ? INT64_MAX : a + b;
}

static void *scratch_take(const ref_call *call, int64_t count, int64_t size)
{
    int64_t bytes = ref_count_times(count, size);
    void *p = NULL;
    if (bytes < INT64_MAX)
        p = ref_alloc(call->host, bytes > 0 ? (uint64_t)bytes : 1);
    if (!p)
        ref_fail(call->error, AXLE_ERR_NOMEM, "reference: no memory for %lld numbers of scratch",
                 (long long)count);
    return p;
}

double *ref_reals(const ref_call *call, int64_t count)
{
    return scratch_take(call, count, sizeof(double));
}

int64_t *ref_integers(const ref_call *call, int64_t count)
{
    return scratch_take(call, count, sizeof(int64_t));
}

void ref_scratch_free(const ref_call *call, void *scratch)
{
    if (scratch)
        ref_free(call->host, scratch);
}

int64_t ref_worker_count(const ref_call *call)
{
    int32_t workers = call->host->num_workers ? call->host->num_workers(call->host->ctx) : 1;
    return workers > 0 ? workers : 1;
}
