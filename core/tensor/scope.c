/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes: a stack of owned tensors for each thread, with marks where scopes begin. */
#include <pthread.h>
#include <string.h>

#include "base/finalize.h"
#include "base/memory.h"
#include "tensor/tensor.h"

typedef struct scope_stack {
    axle_tensor **items;
    size_t count, room;
    size_t *starts;
    size_t depth, depth_room;
} scope_stack;

static pthread_key_t scope_key;
static pthread_once_t scope_once = PTHREAD_ONCE_INIT;
static _Thread_local scope_stack *scope_of_thread;

static void release_from(scope_stack *stack, size_t start)
{
    while (stack->count > start)
        axle_tensor_release(stack->items[--stack->count]);
}

static void thread_ends(void *pointer)
{
    scope_stack *stack = pointer;
    release_from(stack, 0);
    axle__free(stack->items);
    axle__free(stack->starts);
    axle__free(stack);
    scope_of_thread = NULL;
}

static void make_key(void)
{
    pthread_key_create(&scope_key, thread_ends);
}

/* Tensors must not outlive their devices. */
static void release_before_devices_close(void)
{
    scope_stack *stack = scope_of_thread;
    if (!stack)
        return;
    pthread_setspecific(scope_key, NULL);
    thread_ends(stack);
}

static scope_stack *current(void)
{
    if (scope_of_thread)
        return scope_of_thread;
    pthread_once(&scope_once, make_key);
    scope_stack *stack = axle__alloc(1, sizeof(*stack));
    if (!stack)
        return NULL;
    pthread_setspecific(scope_key, stack);
    axle__finalize_register(release_before_devices_close);
    scope_of_thread = stack;
    return stack;
}

/* Room for one item more in an array that doubles. */
static void *grown(void *array, size_t count, size_t *room, size_t item)
{
    if (count < *room)
        return array;
    size_t wanted = *room ? *room * 2 : 64;
    void *larger = axle__resize(array, wanted, item);
    if (larger)
        *room = wanted;
    return larger;
}

axle_tensor *axle__scope_own(axle_tensor *tensor)
{
    if (!tensor)
        return NULL;
    scope_stack *stack = current();
    axle_tensor **items =
        stack ? grown(stack->items, stack->count, &stack->room, sizeof(*items)) : NULL;
    if (!items) {
        axle_tensor_release(tensor);
        return NULL;
    }
    stack->items = items;
    stack->items[stack->count++] = tensor;
    return tensor;
}

int axle_scope_push(void)
{
    scope_stack *stack = current();
    size_t *starts =
        stack ? grown(stack->starts, stack->depth, &stack->depth_room, sizeof(*starts)) : NULL;
    if (!starts)
        return AXLE_ERR_NOMEM;
    stack->starts = starts;
    stack->starts[stack->depth++] = stack->count;
    return AXLE_OK;
}

void axle_scope_pop(void)
{
    scope_stack *stack = scope_of_thread;
    if (!stack)
        return;
    release_from(stack, stack->depth ? stack->starts[--stack->depth] : 0);
}

axle_tensor *axle_scope_pop_keep(axle_tensor *keep)
{
    axle_tensor_retain(keep);
    axle_scope_pop();
    return axle__scope_own(keep);
}

int axle_scope_depth(void)
{
    return scope_of_thread ? (int)scope_of_thread->depth : 0;
}
