/* SPDX-License-Identifier: Apache-2.0 */
#include "device/trace_queue.h"

#include "base/memory.h"
#include "device/trace_file.h"

/* More operators on their way than this make those who enqueue wait. */
enum { MOST = 1024 };

typedef struct marker {
    struct marker *next;
    axle_device *device;
    axle_be_event *event;
    int64_t start;
    axle__trace_done_fn done;
    void *user;
} marker;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static marker *first, **last = &first;
static int waiting; /* markers in the list, and the one that is waited for */
static bool running, ending;
static pthread_t thread;

bool axle__trace_queue_serves(const axle_device *device)
{
    const axle_device_api *api = device->api;
    return !device->synchronous && (device->info.caps & AXLE_CAP_EVENTS) &&
           AXLE_HAS(api, axle_device_api, event_create) &&
           AXLE_HAS(api, axle_device_api, event_destroy) &&
           AXLE_HAS(api, axle_device_api, event_record) &&
           AXLE_HAS(api, axle_device_api, event_wait);
}

/* The last operator that was seen to end. */
typedef struct predecessor {
    const axle_device *device;
    int64_t end;
} predecessor;

/* An operator that failed is done as well; its error comes out where the program waits. */
static void finish(marker *m, predecessor *before)
{
    m->device->api->event_wait(m->event, -1, NULL);
    int64_t end = axle__trace_now(), start = m->start;
    if (before->device == m->device && before->end > start)
        start = before->end;
    m->done(m->user, start, end);
    *before = (predecessor){m->device, end};
    m->device->api->event_destroy(m->event);
    axle__free(m);
}

static void *serve(void *arg)
{
    predecessor before = {NULL, 0};
    (void)arg;
    pthread_mutex_lock(&lock);
    while (first || !ending) {
        marker *m = first;
        if (!m) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        first = m->next;
        last = first ? last : &first;
        pthread_mutex_unlock(&lock);
        finish(m, &before);
        pthread_mutex_lock(&lock);
        waiting--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool record(marker *m)
{
    const axle_device_api *api = m->device->api;
    if (api->event_create(m->device->handle, &m->event, NULL) != AXLE_OK)
        return false;
    pthread_mutex_lock(&m->device->queue_lock);
    axle_status status = api->event_record(m->device->queue, m->event, NULL);
    pthread_mutex_unlock(&m->device->queue_lock);
    if (status != AXLE_OK)
        api->event_destroy(m->event);
    return status == AXLE_OK;
}

/* A child of fork() has no such thread, and nobody who waits for the markers. */
static void leave_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&changed, NULL);
    first = NULL;
    last = &first;
    waiting = 0;
    running = ending = false;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, leave_in_child);
}

/* Whether there is a thread to serve the marker. */
static bool append(marker *m)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    while (waiting >= MOST)
        pthread_cond_wait(&changed, &lock);
    if (!running)
        running = pthread_create(&thread, NULL, serve, NULL) == 0;
    if (running) {
        *last = m;
        last = &m->next;
        waiting++;
        pthread_cond_broadcast(&changed);
    }
    bool served = running;
    pthread_mutex_unlock(&lock);
    return served;
}

void axle__trace_queue_add(axle_device *device, int64_t start, axle__trace_done_fn done, void *user)
{
    marker *m = axle__alloc(1, sizeof(*m));
    if (m) {
        *m = (marker){.device = device, .start = start, .done = done, .user = user};
        bool recorded = record(m);
        if (recorded && append(m))
            return;
        if (recorded)
            device->api->event_destroy(m->event);
        axle__free(m);
    }
    done(user, start, axle__trace_now());
}

void axle__trace_queue_drain(void)
{
    pthread_mutex_lock(&lock);
    bool join = running;
    ending = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (join)
        pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    running = ending = false;
    pthread_mutex_unlock(&lock);
}
