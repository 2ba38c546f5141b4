/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file device.h
 * Devices: where tensors live and operators run.
 *
 * A program needs none of this: the device follows from AXLE_BACKEND when the first tensor is made.
 * Those who want several devices in one process open them by name:
 *
 *     axle_device *cpu;
 *     if (axle_device_open("onednn", &cpu) == AXLE_OK) {
 *         axle_device_push(cpu);
 *         axle_tensor *x = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(2, 3));
 *         axle_device_pop();
 *     }
 *
 * AXLE_BACKEND, and the specification that axle_device_open takes, is one of
 *
 *     auto                  the best that works (the default)
 *     opencl                the first device of that backend; of several GPUs, each process of a
 *                           job takes its own
 *     opencl:1              its second one
 *     opencl:radeon         the first whose name contains that, in any case
 *     opencl:gpu            the first of that kind: gpu, accelerator or cpu
 *     onednn,reference      the first of these that works
 *     ^opencl,reference     the best that works, but none of these
 *     /path/to/backend.so   that plugin
 *
 * Backends are looked for in AXLE_PLUGIN_PATH, beside the library, and in the installed folder.
 * A backend asked for by name that cannot serve is an error that says why; `auto` moves on.
 */
#ifndef AXLE_DEVICE_H
#define AXLE_DEVICE_H

#include "axle/types.h"

AXLE_BEGIN_DECLS

typedef struct axle_device axle_device;

/**
 * Open a device, or find it if it is open already.
 * @param spec  as above; NULL means AXLE_BACKEND.
 * @param out   borrowed; devices live until axle_finalize().
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND, AXLE_ERR_DEVICE, AXLE_ERR_ABI, AXLE_ERR_INVALID.
 */
AXLE_API int axle_device_open(const char *spec, axle_device **out);

/**
 * Find the file of a backend without loading it.
 * @param backend  a name, looked for as above, or a path.
 * @param out      its absolute path, for axle_free(); NULL for "reference", which has no file.
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND, AXLE_ERR_INVALID, AXLE_ERR_NOMEM.
 */
AXLE_API int axle_backend_path(const char *backend, char **out);

/** The device of host memory: the built-in reference backend. NULL only when memory runs out. */
AXLE_API axle_device *axle_device_host(void);

/** Device on which this thread makes tensors: the last pushed, else the process's default, which
 * the first call opens from AXLE_BACKEND. NULL on error. */
AXLE_API axle_device *axle_device_current(void);

/** Make a device the current one of this thread until the matching pop. */
AXLE_API int axle_device_push(axle_device *device);
AXLE_API void axle_device_pop(void);

/** Make a device the default of the process, for threads that pushed none. */
AXLE_API int axle_device_set_default(axle_device *device);

/** Name of the backend ("onednn") and of the device ("AMD EPYC 7B13"); borrowed. */
AXLE_API const char *axle_device_backend(const axle_device *device);
AXLE_API const char *axle_device_name(const axle_device *device);

/** Whether operators work on this element type. */
AXLE_API int axle_device_supports(const axle_device *device, int dtype);

/** Wait for everything that was enqueued; reports errors of kernels that ran. */
AXLE_API int axle_device_synchronize(axle_device *device);

/** What a device did and holds. Starts from AXLE_DEVICE_STATS_INIT. */
typedef struct axle_device_stats {
    size_t struct_size;
    uint64_t bytes_in_use;   /**< held by tensors and workspaces */
    uint64_t bytes_reserved; /**< taken from the device, caches included */
    uint64_t bytes_peak;     /**< most bytes_in_use so far */
    uint64_t op_runs;        /**< operators run on the device */
    uint64_t fallbacks;      /**< operators run by the host in its stead */
    uint64_t prepared_ops;   /**< entries in the cache of prepared operators */
} axle_device_stats;
#define AXLE_DEVICE_STATS_INIT                                                                     \
    {                                                                                              \
        sizeof(axle_device_stats), 0, 0, 0, 0, 0, 0                                                \
    }
AXLE_API int axle_device_get_stats(const axle_device *device, axle_device_stats *out);

/** Let bytes_peak begin again from bytes_in_use. */
AXLE_API void axle_device_reset_peak(axle_device *device);
/**
 * Between on and off operators of the device take the memory that they need, and compute nothing:
 * what a step takes is seen in bytes_peak at no cost of time. Results have their shapes, but no
 * values, and should not be read. No step of an optimizer may fall between, as parameters would.
 */
AXLE_API void axle_device_dry_run(axle_device *device, int on);
/** Give cached memory back to the device. */
AXLE_API void axle_device_trim(axle_device *device);

/**
 * Describe this installation as a JSON object: version, build options, backends found and rejected
 * with the reason, devices, element types, operators, settings.
 * @param out  a string for axle_free().
 */
AXLE_API int axle_info_json(char **out);

/** Number of CPU cores this process may use: the smaller of its affinity and its cgroup's quota. */
AXLE_API int axle_usable_cores(void);

AXLE_END_DECLS

#endif
