/* SPDX-License-Identifier: Apache-2.0 */
#include "compat.h"

#include <pthread.h>
#include <stdlib.h>

#if DNNL_VERSION_MAJOR >= 3

void dnn_md_destroy(dnn_md md)
{
    if (md)
        dnnl_memory_desc_destroy(md);
}

dnnl_status_t dnn_md_create(const dnn_layout *layout, dnn_md *out)
{
    if (layout->any)
        return dnnl_memory_desc_create_with_tag(out, layout->rank, layout->dim, layout->type,
                                                dnnl_format_tag_any);
    return dnnl_memory_desc_create_with_strides(out, layout->rank, layout->dim, layout->type,
                                                layout->stride);
}

dnnl_status_t dnn_md_clone(dnn_const_md md, dnn_md *out)
{
    return dnnl_memory_desc_clone(out, md);
}

static dnnl_status_t append_sum(dnnl_post_ops_t ops, float scale)
{
    return dnnl_post_ops_append_sum(ops, scale, 0, dnnl_data_type_undef);
}

static dnnl_status_t append_eltwise(dnnl_post_ops_t ops, const dnn_post_op *op)
{
    return dnnl_post_ops_append_eltwise(ops, op->algorithm, op->alpha, op->beta);
}

/* Go on to a later implementation; `desc` is destroyed where there is none. */
static dnnl_status_t skip_impls(dnnl_primitive_desc_t desc, int skip, dnnl_primitive_desc_t *out)
{
    dnnl_status_t status = dnnl_success;
    for (int k = 0; k < skip && status == dnnl_success; k++)
        status = dnnl_primitive_desc_next_impl(desc);
    if (status == dnnl_success)
        *out = desc;
    else
        dnnl_primitive_desc_destroy(desc);
    return status;
}

dnnl_status_t dnn_matmul_desc(const dnn_matmul_spec *spec, dnn_md *md, dnnl_primitive_attr_t attr,
                              dnnl_primitive_desc_t *out)
{
    dnnl_primitive_desc_t desc;
    dnnl_status_t status = dnnl_matmul_primitive_desc_create(
        &desc, dnn_engine(), md[DNN_SRC], md[DNN_WEIGHTS], md[DNN_BIAS], md[DNN_DST], attr);
    return status == dnnl_success ? skip_impls(desc, spec->skip, out) : status;
}

static dnnl_status_t first_conv_desc(const dnn_conv_spec *spec, dnn_md *md,
                                     dnnl_primitive_attr_t attr, dnnl_primitive_desc_t hint,
                                     dnnl_primitive_desc_t *out)
{
    if (spec->kind == DNN_CONV_BACKWARD_DATA)
        return dnnl_convolution_backward_data_primitive_desc_create(
            out, dnn_engine(), dnnl_convolution_direct, md[DNN_SRC], md[DNN_WEIGHTS], md[DNN_DST],
            spec->stride, spec->dilation, spec->pad_left, spec->pad_right, hint, attr);
    if (spec->kind == DNN_CONV_BACKWARD_WEIGHTS)
        return dnnl_convolution_backward_weights_primitive_desc_create(
            out, dnn_engine(), dnnl_convolution_direct, md[DNN_SRC], md[DNN_WEIGHTS], md[DNN_BIAS],
            md[DNN_DST], spec->stride, spec->dilation, spec->pad_left, spec->pad_right, hint, attr);
    return dnnl_convolution_forward_primitive_desc_create(
        out, dnn_engine(), dnnl_forward_training, dnnl_convolution_direct, md[DNN_SRC],
        md[DNN_WEIGHTS], md[DNN_BIAS], md[DNN_DST], spec->stride, spec->dilation, spec->pad_left,
        spec->pad_right, attr);
}

dnnl_status_t dnn_conv_desc(const dnn_conv_spec *spec, dnn_md *md, dnnl_primitive_attr_t attr,
                            dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out)
{
    dnnl_primitive_desc_t desc;
    dnnl_status_t status = first_conv_desc(spec, md, attr, hint, &desc);
    return status == dnnl_success ? skip_impls(desc, spec->skip, out) : status;
}

#else

void dnn_md_destroy(dnn_md md)
{
    free(md);
}

dnnl_status_t dnn_md_create(const dnn_layout *layout, dnn_md *out)
{
    dnn_md md = malloc(sizeof(*md));
    if (!md)
        return dnnl_out_of_memory;
    dnnl_status_t status = layout->any
                               ? dnnl_memory_desc_init_by_tag(md, layout->rank, layout->dim,
                                                              layout->type, dnnl_format_tag_any)
                               : dnnl_memory_desc_init_by_strides(md, layout->rank, layout->dim,
                                                                  layout->type, layout->stride);
    if (status != dnnl_success) {
        free(md);
        return status;
    }
    *out = md;
    return dnnl_success;
}

dnnl_status_t dnn_md_clone(dnn_const_md md, dnn_md *out)
{
    dnn_md clone = malloc(sizeof(*clone));
    if (!clone)
        return dnnl_out_of_memory;
    *clone = *md;
    *out = clone;
    return dnnl_success;
}

static dnnl_status_t append_sum(dnnl_post_ops_t ops, float scale)
{
    return dnnl_post_ops_append_sum(ops, scale);
}

static dnnl_status_t append_eltwise(dnnl_post_ops_t ops, const dnn_post_op *op)
{
    return dnnl_post_ops_append_eltwise(ops, 1.0f, op->algorithm, op->alpha, op->beta);
}

static dnnl_status_t select_desc(const_dnnl_op_desc_t desc, int skip, dnnl_primitive_attr_t attr,
                                 dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out)
{
    dnnl_primitive_desc_iterator_t iterator;
    dnnl_status_t status =
        dnnl_primitive_desc_iterator_create(&iterator, desc, attr, dnn_engine(), hint);
    if (status != dnnl_success)
        return status;
    for (int k = 0; k < skip && status == dnnl_success; k++)
        status = dnnl_primitive_desc_iterator_next(iterator);
    if (status == dnnl_success)
        *out = dnnl_primitive_desc_iterator_fetch(iterator);
    dnnl_primitive_desc_iterator_destroy(iterator);
    return status == dnnl_success && !*out ? dnnl_out_of_memory : status;
}

dnnl_status_t dnn_matmul_desc(const dnn_matmul_spec *spec, dnn_md *md, dnnl_primitive_attr_t attr,
                              dnnl_primitive_desc_t *out)
{
    dnnl_matmul_desc_t desc;
    dnnl_status_t status =
        dnnl_matmul_desc_init(&desc, md[DNN_SRC], md[DNN_WEIGHTS], md[DNN_BIAS], md[DNN_DST]);
    return status == dnnl_success ? select_desc(&desc, spec->skip, attr, NULL, out) : status;
}

dnnl_status_t dnn_conv_desc(const dnn_conv_spec *spec, dnn_md *md, dnnl_primitive_attr_t attr,
                            dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out)
{
    dnnl_convolution_desc_t desc;
    dnnl_status_t status;
    if (spec->kind == DNN_CONV_BACKWARD_DATA)
        status = dnnl_dilated_convolution_backward_data_desc_init(
            &desc, dnnl_convolution_direct, md[DNN_SRC], md[DNN_WEIGHTS], md[DNN_DST], spec->stride,
            spec->dilation, spec->pad_left, spec->pad_right);
    else if (spec->kind == DNN_CONV_BACKWARD_WEIGHTS)
        status = dnnl_dilated_convolution_backward_weights_desc_init(
            &desc, dnnl_convolution_direct, md[DNN_SRC], md[DNN_WEIGHTS], md[DNN_BIAS], md[DNN_DST],
            spec->stride, spec->dilation, spec->pad_left, spec->pad_right);
    else
        status = dnnl_dilated_convolution_forward_desc_init(
            &desc, dnnl_forward_training, dnnl_convolution_direct, md[DNN_SRC], md[DNN_WEIGHTS],
            md[DNN_BIAS], md[DNN_DST], spec->stride, spec->dilation, spec->pad_left,
            spec->pad_right);
    if (status != dnnl_success)
        return status;
    return select_desc(&desc, spec->skip, attr, hint, out);
}

#endif

dnnl_status_t dnn_post_op_append(dnnl_post_ops_t ops, const dnn_post_op *op)
{
    return op->kind == dnnl_sum ? append_sum(ops, op->alpha) : append_eltwise(ops, op);
}

/* ------------------------------------------------------------------ the engine */

static dnnl_engine_t the_engine;
static dnnl_stream_t the_stream;

/* A CPU engine and its stream hold no state, so one of each serves every device and thread; they
 * live as long as the process. */
static void engine_create(void)
{
    if (dnnl_engine_get_count(dnnl_cpu) == 0)
        return;
    if (dnnl_engine_create(&the_engine, dnnl_cpu, 0) != dnnl_success) {
        the_engine = NULL;
        return;
    }
    if (dnnl_stream_create(&the_stream, the_engine, dnnl_stream_default_flags) == dnnl_success)
        return;
    dnnl_engine_destroy(the_engine);
    the_engine = NULL;
}

dnnl_engine_t dnn_engine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, engine_create);
    return the_engine;
}

dnnl_stream_t dnn_stream(void)
{
    return the_stream;
}

/* The series number the sets differently; what a version does not know it reports as what it
 * contains, so the table holds only values whose meaning both share. */
const char *dnn_isa_name(void)
{
    static const struct {
        int isa;
        const char *name;
    } table[] = {
        {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
#if DNNL_VERSION_MAJOR >= 3
        {dnnl_cpu_isa_avx512_core_fp16, "avx512_core_fp16"},
#endif
        {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
        {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
        {dnnl_cpu_isa_avx512_core, "avx512_core"},
        {dnnl_cpu_isa_avx2_vnni, "avx2_vnni"},
        {dnnl_cpu_isa_avx2, "avx2"},
        {dnnl_cpu_isa_avx, "avx"},
        {dnnl_cpu_isa_sse41, "sse41"},
    };
    int isa = (int)dnnl_get_effective_cpu_isa();
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++)
        if ((isa & table[k].isa) == table[k].isa)
            return table[k].name;
    return "generic";
}

int dnn_has_bf16(void)
{
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_bf16) ==
           dnnl_cpu_isa_avx512_core_bf16;
}
