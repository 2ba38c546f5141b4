/* SPDX-License-Identifier: Apache-2.0 */
/*
 * There is no flag of the system for this, so a handler of fork closes what is listed. It holds the
 * lock across the fork, so that the child sees a whole list.
 */
#include "job/socket_list.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "base/memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int *list;
static size_t count, capacity;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    for (size_t k = 0; k < count; k++)
        close(list[k]);
    count = 0;
    pthread_mutex_unlock(&lock);
}

static void register_handlers(void)
{
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

void axle__socket_list_add(int fd)
{
    pthread_once(&once, register_handlers);
    pthread_mutex_lock(&lock);
    if (count == capacity) {
        size_t more = capacity ? 2 * capacity : 64;
        int *larger = axle__resize(list, more, sizeof(*larger));
        if (larger) {
            list = larger;
            capacity = more;
        }
    }
    if (count < capacity)
        list[count++] = fd;
    pthread_mutex_unlock(&lock);
}

void axle__socket_list_remove(int fd)
{
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < count; k++)
        if (list[k] == fd) {
            list[k] = list[--count];
            break;
        }
    if (count == 0) {
        axle__free(list);
        list = NULL;
        capacity = 0;
    }
    pthread_mutex_unlock(&lock);
}
