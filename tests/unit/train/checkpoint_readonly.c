/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder that can be written no more. Where this process may mount, it mounts one of its own
 * there that becomes read-only; where it is the superuser without that right, it becomes somebody
 * whom the folder does not belong to; else the folder loses its permission.
 */
#define _GNU_SOURCE 1
#include "tensors.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train/folder.h"
#include "train/training.h"

enum { NOBODY = 65534, ALL = 1 << 20 };

static bool mounted;

/* What is mounted is this thread's alone, and that of threads it starts. */
static void mount_own(void)
{
    mounted = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
              mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
              mount("none", folder, "tmpfs", 0, "size=4m") == 0;
}

static void make_read_only(bool wanted)
{
    if (mounted)
        assert_int_equal(
            mount("none", folder, "tmpfs", MS_REMOUNT | (wanted ? MS_RDONLY : 0), NULL), 0);
    else if (wanted && geteuid() == 0)
        assert_int_equal(seteuid(NOBODY), 0);
    else if (!wanted && getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    else
        assert_int_equal(chmod(folder, wanted ? 0500 : 0700), 0);
}

static int save(training *t, bool asynchronous)
{
    int status = axle_save_state(t->acc, NULL);
    if (!asynchronous)
        return status;
    OK(status);
    return axle_checkpoint_wait(t->acc);
}

static void what_was_saved_stays(void **state)
{
    (void)state;
    training whole, t;
    training_plan p = TRAINING_PLAN;
    OK(training_open(&p, &whole));
    OK(training_run(&whole, 2, ALL));
    mount_own();
    for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
        axle_checkpoint_options o = AXLE_CHECKPOINT_OPTIONS_INIT;
        o.directory = folder;
        o.keep = 1;
        o.asynchronous = asynchronous;
        OK(training_open(&p, &t));
        OK(axle_checkpoint_configure(t.acc, &o));
        OK(training_run(&t, 2, 10));
        OK(save(&t, asynchronous));
        OK(training_run(&t, 2, 5));
        make_read_only(true);
        int status = save(&t, asynchronous);
        assert_int_equal(status, AXLE_ERR_IO);
        unit_expect_error(AXLE_ERR_IO, mounted ? "Read-only" : "ermission");
        OK(training_run(&t, 2, ALL));
        make_read_only(false);
        assert_int_equal(entries(folder), 1);
        assert_true(exists("step-00000010/state.json"));
        assert_true(training_sum(&t) == training_sum(&whole));
        OK(axle_load_state(t.acc, NULL));
        assert_int_equal(axle_optimizer_updates(t.opt), 10);
        OK(training_run(&t, 2, ALL));
        assert_true(training_sum(&t) == training_sum(&whole));
        OK(save(&t, asynchronous));
        training_close(&t);
        remove_all(in("step-00000032"));
    }
    training_close(&whole);
    if (mounted)
        assert_int_equal(umount(folder), 0);
}

static const struct CMUnitTest tests[] = {
    CHECKPOINT("in a folder that is read-only saving is an error, training goes on, and what was "
               "saved stays",
               what_was_saved_stays),
};

UNIT_MAIN(tests)
