/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizers in checkpoints. Moments are stored by parameter, so that they find their place in any
 * layout: where processes share an optimizer out, their pieces are brought together for saving, and
 * each takes its own in loading. With local SGD each process has moments and ages of its own, and a
 * file for them, which it takes again where there are as many processes as there were; others take
 * those of the first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "autograd/node.h"
#include "base/memory.h"
#include "optim/optimizer.h"
#include "train/agree.h"
#include "train/checkpoint.h"

static axle_optimizer *next_optimizer(const axle_accelerator *accelerator, int *at)
{
    return (axle_optimizer *)axle__next_prepared(accelerator, AXLE__OBJECT_OPTIMIZER, at);
}

/* Of optimizer number k, of a process of local SGD. */
static char *file_name(int k, int rank)
{
    char number[16] = "", process[24] = "";
    if (k > 0)
        snprintf(number, sizeof(number), "_%d", k);
    if (rank > 0)
        snprintf(process, sizeof(process), "_rank%d", rank);
    return axle__format("optimizer%s%s", number, process);
}

/* Whether each process has a state of its own. */
static bool is_local(const axle_accelerator *accelerator)
{
    return accelerator->options.local_sgd > 0 && axle_process_count(accelerator) > 1;
}

static char *moment_name(const axle_optimizer *optimizer, int slot, int moment)
{
    return axle__format("%d.%s.moment%d", slot, optimizer->slots[slot].name, moment);
}

static bool has_moments(const axle_optimizer *optimizer)
{
    return optimizer->moment_count > 0 && optimizer->arena_size > 0;
}

static size_t item_size(const axle_optimizer *optimizer)
{
    return axle_dtype_size((int)axle__dtype(optimizer->params));
}

/* ------------------------------------------------------------------ description */

static json_t *describe_shape(const axle_tensor *tensor)
{
    json_t *shape = json_array();
    for (int k = 0; shape && k < axle__rank(tensor); k++)
        if (json_array_append_new(shape, json_integer(tensor->view.dim[k]))) {
            json_decref(shape);
            return NULL;
        }
    return shape;
}

static json_t *describe_groups(const axle_optimizer *optimizer)
{
    json_t *groups = json_array();
    for (int k = 0; groups && k < optimizer->group_count; k++) {
        const axle__group *g = &optimizer->groups[k];
        json_t *about = json_pack("{s:f, s:f, s:f}", "lr", g->lr, "initial_lr", g->initial_lr,
                                  "weight_decay", g->weight_decay);
        if (json_array_append_new(groups, about)) {
            json_decref(groups);
            return NULL;
        }
    }
    return groups;
}

static json_t *describe_slots(const axle_optimizer *optimizer)
{
    json_t *slots = json_array();
    for (int k = 0; slots && k < optimizer->slot_count; k++) {
        const axle__slot *s = &optimizer->slots[k];
        json_t *about =
            json_pack("{s:s, s:o, s:i, s:I}", "name", s->name, "shape", describe_shape(s->tensor),
                      "group", s->group, "age", (json_int_t)s->age);
        if (json_array_append_new(slots, about)) {
            json_decref(slots);
            return NULL;
        }
    }
    return slots;
}

static json_t *describe(const axle_optimizer *optimizer)
{
    return json_pack("{s:s, s:i, s:I, s:o, s:o}", "kind", optimizer->name, "moments",
                     optimizer->moment_count, "updates", (json_int_t)optimizer->updates, "groups",
                     describe_groups(optimizer), "parameters", describe_slots(optimizer));
}

/* ------------------------------------------------------------------ saving */

/* Names and places of all moments, in the copy of the arenas at file->data. */
static int list_moments(const axle_optimizer *optimizer, axle__snapshot_file *file)
{
    size_t item = item_size(optimizer), n = 0;
    size_t most = (size_t)optimizer->slot_count * (size_t)optimizer->moment_count;
    file->sources = axle__alloc(most, sizeof(*file->sources));
    int status = file->sources ? AXLE_OK : AXLE_ERR_NOMEM;
    for (int k = 0; k < optimizer->slot_count && !status; k++) {
        const axle__slot *slot = &optimizer->slots[k];
        for (int j = 0; j < optimizer->moment_count && slot->count > 0 && !status; j++) {
            int64_t place = j * optimizer->arena_size + slot->offset;
            status = axle__list_take(&file->names, moment_name(optimizer, k, j));
            if (status)
                break;
            axle__safetensors_source source =
                axle__safetensors_source_of(file->names.item[n], slot->tensor);
            source.tensor = NULL;
            source.entry.data = file->data + (size_t)place * item;
            file->sources[n++] = source;
        }
    }
    file->content = (axle__shard_content){.sources = file->sources, .count = n};
    return status;
}

/* Everyone's pieces of a moment, in the order of ranks, into the copy of the whole arena. */
static void spread(const axle__reducer *reducer, int processes, size_t item,
                   const unsigned char *from, unsigned char *to)
{
    for (int rank = 0; rank < processes; rank++)
        for (int k = 0; k < axle__reducer_piece_count(reducer); k++) {
            axle__piece piece = axle__reducer_piece(reducer, k, rank);
            memcpy(to + (size_t)piece.offset * item, from, (size_t)piece.count * item);
            from += (size_t)piece.count * item;
        }
}

/* All processes call this; only the main one gets `to`. */
static int gather_moment(axle__capture *capture, const axle_optimizer *optimizer,
                         const axle__reducer *reducer, int j, unsigned char *to)
{
    axle_group *group = capture->accelerator->group;
    int status = axle_scope_push();
    if (status)
        return status;
    axle_tensor *all = axle_gather_to(group, optimizer->moments[j], 0);
    status = all ? AXLE_OK : axle_error_code();
    size_t size = status ? 0 : (size_t)all->count * item_size(optimizer);
    unsigned char *data = status || !capture->main ? NULL : axle__alloc(size, 1);
    if (data)
        status = axle_tensor_read(all, data, size);
    else if (capture->main && !status)
        status = AXLE_ERR_NOMEM;
    if (data && !status)
        spread(reducer, axle_process_count(capture->accelerator), item_size(optimizer), data, to);
    axle__free(data);
    axle_scope_pop();
    return status;
}

static const axle__reducer *reducer_of(const axle_accelerator *accelerator,
                                       const axle_optimizer *optimizer)
{
    for (int k = 0; k < accelerator->count; k++)
        if (accelerator->prepared[k].object == &optimizer->object)
            return accelerator->prepared[k].reducer;
    return NULL;
}

static int copy_moments(axle__capture *capture, const axle_optimizer *optimizer,
                        unsigned char *data)
{
    const axle__reducer *reducer = reducer_of(capture->accelerator, optimizer);
    size_t size = (size_t)optimizer->arena_size * item_size(optimizer);
    int status = AXLE_OK;
    for (int j = 0; j < optimizer->moment_count && !status; j++) {
        unsigned char *to = data ? data + (size_t)j * size : NULL;
        if (optimizer->pieces)
            status = gather_moment(capture, optimizer, reducer, j, to);
        else
            status = axle_tensor_read(optimizer->moments[j], to, size);
    }
    return status;
}

static size_t moments_size(const axle_optimizer *optimizer)
{
    return (size_t)optimizer->moment_count * (size_t)optimizer->arena_size * item_size(optimizer);
}

int axle__reserve_optimizers(const axle_accelerator *accelerator, axle__rooms *rooms)
{
    int at = 0, status = AXLE_OK,
        files = is_local(accelerator) ? axle_process_count(accelerator) : 1;
    for (const axle_optimizer *o; !status && (o = next_optimizer(accelerator, &at));)
        for (int k = 0; k < files && !status && has_moments(o); k++)
            status = axle__rooms_reserve(rooms, moments_size(o));
    return status;
}

static int capture_moments(axle__capture *capture, const axle_optimizer *optimizer, int k)
{
    size_t size = moments_size(optimizer);
    axle__snapshot_file *file = NULL;
    int status = capture->status;
    if (!status && capture->main)
        status = axle__snapshot_add(&capture->snapshot, file_name(k, 0), &file);
    if (!status && file)
        status = axle__snapshot_room(&capture->snapshot, file, size);
    if (file && file->data) /* what lies between the pieces is written to no file */
        memset(file->data, 0, optimizer->pieces ? size : 0);
    if (optimizer->pieces)
        status = axle__agree(capture->accelerator, status);
    if (!status && (file || optimizer->pieces))
        status = copy_moments(capture, optimizer, file ? file->data : NULL);
    return status || !file ? status : list_moments(optimizer, file);
}

/* ------------------------------------------------------------------ saving local SGD */

/* Files for the moments of the processes behind the first, on the main process. */
static int add_local_files(axle__capture *capture, int k, size_t size)
{
    int status = AXLE_OK;
    for (int rank = 1; rank < axle_process_count(capture->accelerator) && !status; rank++) {
        axle__snapshot_file *file;
        status = axle__snapshot_add(&capture->snapshot, file_name(k, rank), &file);
        if (!status)
            status = axle__snapshot_room(&capture->snapshot, file, size);
    }
    return status;
}

/* Everyone's moment number j into the files, of which `files` is that of rank 1; all processes call
 * this. */
static int gather_local(axle__capture *capture, const axle_optimizer *optimizer, int j,
                        axle__snapshot_file *files)
{
    axle_group *group = capture->accelerator->group;
    size_t size = (size_t)optimizer->arena_size * item_size(optimizer);
    int count = axle_process_count(capture->accelerator), status = axle_scope_push();
    if (status)
        return status;
    axle_tensor *all = axle_gather_to(group, optimizer->moments[j], 0);
    status = all ? AXLE_OK : axle_error_code();
    unsigned char *data = capture->main && !status ? axle__alloc((size_t)count, size) : NULL;
    if (data)
        status = axle_tensor_read(all, data, (size_t)count * size);
    else if (capture->main && !status)
        status = AXLE_ERR_NOMEM;
    for (int rank = 1; data && !status && rank < count; rank++)
        memcpy(files[rank - 1].data + (size_t)j * size, data + (size_t)rank * size, size);
    axle__free(data);
    axle_scope_pop();
    return status;
}

static int capture_local(axle__capture *capture, const axle_optimizer *optimizer, int k)
{
    size_t first = capture->snapshot.count;
    int status = capture->status;
    if (!status && capture->main)
        status = add_local_files(capture, k, moments_size(optimizer));
    status = axle__agree(capture->accelerator, status);
    axle__snapshot_file *files = capture->main ? capture->snapshot.files + first : NULL;
    for (int j = 0; j < optimizer->moment_count && !status; j++)
        status = gather_local(capture, optimizer, j, files);
    for (size_t f = first; f < capture->snapshot.count && !status; f++)
        status = list_moments(optimizer, &capture->snapshot.files[f]);
    return status;
}

/* The ages of all processes' parameters; all call this. */
static int describe_ages(axle__capture *capture, const axle_optimizer *optimizer, json_t **out)
{
    int processes = axle_process_count(capture->accelerator), n = optimizer->slot_count;
    int64_t *own = axle__alloc((size_t)n + 1, sizeof(*own));
    size_t *sizes = axle__alloc((size_t)processes, sizeof(*sizes));
    void *all = NULL;
    int status = own && sizes ? AXLE_OK : AXLE_ERR_NOMEM;
    for (int k = 0; k < n && !status; k++)
        own[k] = optimizer->slots[k].age;
    status = axle__agree(capture->accelerator, status);
    if (!status)
        status = axle_gather_bytes(capture->accelerator->group, own, (size_t)n * sizeof(*own), &all,
                                   sizes);
    json_t *ranks = status || !capture->main ? NULL : json_array();
    for (int rank = 0; rank < processes && ranks; rank++) {
        json_t *ages = json_array();
        for (int k = 0; k < n && ages; k++)
            json_array_append_new(ages, json_integer(((int64_t *)all)[rank * n + k]));
        json_array_append_new(ranks, ages);
    }
    axle__free(all);
    axle__free(sizes);
    axle__free(own);
    *out = ranks;
    return status;
}

static int capture_processes(axle__capture *capture, const axle_optimizer *optimizer, int k,
                             json_t *about)
{
    json_t *ranks = NULL;
    int status = has_moments(optimizer) ? capture_local(capture, optimizer, k) : AXLE_OK;
    int told = describe_ages(capture, optimizer, &ranks);
    if (ranks && json_object_set_new(about, "ranks", ranks))
        told = told ? told : axle__json_failed();
    return status ? status : told;
}

int axle__capture_optimizers(axle__capture *capture, json_t **out)
{
    int at = 0, k = 0;
    axle_optimizer *optimizer;
    if (capture->main)
        *out = json_array();
    for (; (optimizer = next_optimizer(capture->accelerator, &at)); k++) {
        int status = has_moments(optimizer) ? capture_moments(capture, optimizer, k) : AXLE_OK;
        json_t *about = capture->main ? describe(optimizer) : NULL;
        if (is_local(capture->accelerator)) {
            int code = capture_processes(capture, optimizer, k, about);
            status = status ? status : code;
        }
        if (capture->main && json_array_append_new(*out, about) && !status)
            status = axle__json_failed();
        capture->status = capture->status ? capture->status : status;
    }
    return capture->status;
}

/* ------------------------------------------------------------------ does it fit? */

static int64_t integer_of(const json_t *object, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static int check_kind(const axle__restore *restore, const axle_optimizer *optimizer, int k,
                      const json_t *value)
{
    const char *kind = json_string_value(json_object_get(value, "kind"));
    if (!kind || strcmp(kind, optimizer->name) != 0 ||
        integer_of(value, "moments") != optimizer->moment_count)
        return axle__restore_error(restore, AXLE_ERR_NOT_FOUND,
                                   "optimizer %d is %s with %" PRId64
                                   " moments, the program's %s with %d",
                                   k, kind ? kind : "unknown", integer_of(value, "moments"),
                                   optimizer->name, optimizer->moment_count);
    int status = axle__restore_check_count(restore, json_object_get(value, "groups"),
                                           optimizer->group_count, "groups of parameters");
    return status ? status
                  : axle__restore_check_count(restore, json_object_get(value, "parameters"),
                                              optimizer->slot_count, "trained parameters");
}

static bool same_shape(const axle_tensor *tensor, const json_t *shape)
{
    bool same = json_array_size(shape) == (size_t)axle__rank(tensor);
    for (int k = 0; same && k < axle__rank(tensor); k++)
        same = json_integer_value(json_array_get(shape, (size_t)k)) == tensor->view.dim[k];
    return same;
}

static int check_slot(const axle__restore *restore, const axle__slot *slot, const json_t *value)
{
    char ours[AXLE__DIMS_TEXT];
    const char *name = json_string_value(json_object_get(value, "name"));
    if (!name || strcmp(name, slot->name) != 0)
        return axle__restore_error(restore, AXLE_ERR_NOT_FOUND,
                                   "it holds parameter '%s' where the program has '%s'",
                                   name ? name : "", slot->name);
    if (!same_shape(slot->tensor, json_object_get(value, "shape")))
        return axle__restore_error(restore, AXLE_ERR_SHAPE,
                                   "parameter '%s' has another shape than the program's, %s", name,
                                   axle__shape_text(slot->tensor, ours));
    if (integer_of(value, "group") != slot->group)
        return axle__restore_error(restore, AXLE_ERR_NOT_FOUND,
                                   "parameter '%s' is in group %" PRId64 ", the program's in %d",
                                   name, integer_of(value, "group"), slot->group);
    return AXLE_OK;
}

/* ------------------------------------------------------------------ staging */

/* The part of a slot's moment that this process holds. */
static void take_part(const axle_optimizer *optimizer, const axle__slot *slot,
                      const unsigned char *from, unsigned char *to)
{
    size_t item = item_size(optimizer);
    const axle__piece whole = {0, optimizer->arena_size, 0};
    const axle__piece *pieces = optimizer->pieces ? optimizer->pieces : &whole;
    int count = optimizer->pieces ? optimizer->piece_count : 1;
    for (int k = 0; k < count; k++) {
        int64_t end = slot->offset + slot->count, piece_end = pieces[k].offset + pieces[k].count;
        int64_t first = slot->offset > pieces[k].offset ? slot->offset : pieces[k].offset;
        int64_t n = (end < piece_end ? end : piece_end) - first;
        if (n > 0)
            memcpy(to + (size_t)(pieces[k].place + first - pieces[k].offset) * item,
                   from + (size_t)(first - slot->offset) * item, (size_t)n * item);
    }
}

static int stage_moment(const axle__restore *restore, const axle_optimizer *optimizer,
                        const axle__shards *files, int slot, int moment, unsigned char *to)
{
    char *name = moment_name(optimizer, slot, moment);
    const axle__slot *s = &optimizer->slots[slot];
    if (!name)
        return AXLE_ERR_NOMEM;
    const axle__safetensors_entry *entry = axle__shards_find(files, name);
    int status = AXLE_OK;
    if (!entry)
        status = axle__restore_error(restore, AXLE_ERR_FORMAT, "there is no tensor '%s'", name);
    else if (entry->dtype != (int)axle__dtype(s->tensor))
        status = axle__restore_error(restore, AXLE_ERR_DTYPE, "tensor '%s' is %s, the program's %s",
                                     name, axle_dtype_name(entry->dtype),
                                     axle_dtype_name((int)axle__dtype(s->tensor)));
    else if (entry->size != (size_t)s->count * item_size(optimizer))
        status = axle__restore_error(restore, AXLE_ERR_FORMAT, "tensor '%s' has %zu bytes", name,
                                     entry->size);
    else
        take_part(optimizer, s, entry->data, to);
    axle__free(name);
    return status;
}

/* Whose state this process takes: its own, where there are as many. */
static int rank_of(const axle__restore *restore, const json_t *value)
{
    const axle_accelerator *accelerator = restore->accelerator;
    size_t ranks = json_array_size(json_object_get(value, "ranks"));
    bool own = is_local(accelerator) && ranks == (size_t)axle_process_count(accelerator);
    return own ? axle_process_index(accelerator) : 0;
}

static int stage_moments(const axle__restore *restore, const axle_optimizer *optimizer, int k,
                         const json_t *value, axle__staged_moments *staged)
{
    axle__shards files = {0};
    char *base = file_name(k, rank_of(restore, value));
    size_t size = (size_t)axle__optimizer_moment_size(optimizer) * item_size(optimizer);
    int status =
        base ? axle__shards_parse(restore->path, base, restore->files, restore->count, &files)
             : AXLE_ERR_NOMEM;
    if (!status && !(staged->data = axle__alloc((size_t)optimizer->moment_count, size)))
        status = AXLE_ERR_NOMEM;
    for (int s = 0; s < optimizer->slot_count && !status; s++)
        for (int j = 0; j < optimizer->moment_count && optimizer->slots[s].count > 0 && !status;
             j++)
            status =
                stage_moment(restore, optimizer, &files, s, j, staged->data + (size_t)j * size);
    axle__free(base);
    axle__shards_close(&files);
    return status;
}

static int check_optimizer(const axle__restore *restore, axle_optimizer *optimizer, int k,
                           const json_t *value, axle__staged_moments *staged)
{
    const json_t *slots = json_object_get(value, "parameters");
    int status = axle__optimizer_lay_out(optimizer);
    if (!status)
        status = check_kind(restore, optimizer, k, value);
    for (int s = 0; s < optimizer->slot_count && !status; s++)
        status = check_slot(restore, &optimizer->slots[s], json_array_get(slots, (size_t)s));
    return status || !has_moments(optimizer) ? status
                                             : stage_moments(restore, optimizer, k, value, staged);
}

int axle__check_optimizers(axle__restore *restore, const json_t *value)
{
    int at = 0, count = 0;
    axle_optimizer *optimizer;
    while (next_optimizer(restore->accelerator, &at))
        count++;
    int status = axle__restore_check_count(restore, value, count, "optimizers");
    if (status)
        return status;
    restore->moments = axle__alloc((size_t)count, sizeof(*restore->moments));
    if (!restore->moments)
        return AXLE_ERR_NOMEM;
    restore->optimizer_count = count;
    at = 0;
    for (int k = 0; !status && (optimizer = next_optimizer(restore->accelerator, &at)); k++)
        status = check_optimizer(restore, optimizer, k, json_array_get(value, (size_t)k),
                                 &restore->moments[k]);
    return status;
}

/* ------------------------------------------------------------------ taking it */

static double real_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void apply_numbers(axle_optimizer *optimizer, const json_t *value, int rank)
{
    const json_t *ages = json_array_get(json_object_get(value, "ranks"), (size_t)rank);
    const json_t *groups = json_object_get(value, "groups");
    const json_t *slots = json_object_get(value, "parameters");
    for (int k = 0; k < optimizer->group_count; k++) {
        const json_t *group = json_array_get(groups, (size_t)k);
        optimizer->groups[k] = (axle__group){real_of(group, "lr"), real_of(group, "initial_lr"),
                                             real_of(group, "weight_decay")};
    }
    for (int k = 0; k < optimizer->slot_count; k++) {
        const json_t *age = json_array_get(ages, (size_t)k);
        optimizer->slots[k].age = age ? (int64_t)json_integer_value(age)
                                      : integer_of(json_array_get(slots, (size_t)k), "age");
        axle__grad_forget(optimizer->slots[k].tensor);
    }
    optimizer->updates = integer_of(value, "updates");
    optimizer->skipped = optimizer->suspended = optimizer->holding = optimizer->stale = false;
}

static int apply_moments(axle_optimizer *optimizer, const axle__staged_moments *staged)
{
    size_t size = (size_t)axle__optimizer_moment_size(optimizer) * item_size(optimizer);
    int status = AXLE_OK;
    for (int j = 0; j < optimizer->moment_count && !status && size > 0; j++)
        status = axle_tensor_write(optimizer->moments[j], staged->data + (size_t)j * size, size);
    return status;
}

int axle__apply_optimizers(axle__restore *restore, const json_t *value)
{
    int at = 0, status = AXLE_OK;
    axle_optimizer *optimizer;
    for (int k = 0; !status && (optimizer = next_optimizer(restore->accelerator, &at)); k++) {
        if (has_moments(optimizer))
            status = apply_moments(optimizer, &restore->moments[k]);
        if (!status)
            apply_numbers(optimizer, json_array_get(value, (size_t)k),
                          rank_of(restore, json_array_get(value, (size_t)k)));
    }
    return status;
}

void axle__unstage_optimizers(axle__restore *restore)
{
    for (int k = 0; k < restore->optimizer_count; k++)
        axle__free(restore->moments[k].data);
    axle__free(restore->moments);
    restore->moments = NULL;
}
