/* SPDX-License-Identifier: Apache-2.0 */
#include "base/finalize.h"

#include <pthread.h>

#include "axle/status.h"

enum { LIMIT = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*registered[LIMIT])(void);
static int count;

int axle__finalize_register(void (*fn)(void))
{
    int code = AXLE_OK, k = 0;
    pthread_mutex_lock(&lock);
    while (k < count && registered[k] != fn)
        k++;
    if (k == LIMIT)
        code = axle_error_set(AXLE_ERR_INTERNAL, "more than %d functions to run at the end", LIMIT);
    else if (k == count)
        registered[count++] = fn;
    pthread_mutex_unlock(&lock);
    return code;
}

/* Functions run without the lock, since they may register others. */
void axle__finalize_run(void)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        void (*fn)(void) = count > 0 ? registered[--count] : NULL;
        pthread_mutex_unlock(&lock);
        if (!fn)
            return;
        fn();
    }
}
