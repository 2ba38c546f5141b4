/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file backend.h
 * The interface of compute backends: shared objects that Axle loads at run time.
 *
 * A backend exports one function, written with AXLE_PLUGIN_DEFINE, that receives a table of host
 * services and returns a table of its own:
 *
 *     static const axle_plugin plugin = {
 *         .struct_size = sizeof(axle_plugin), .abi_major = AXLE_ABI_MAJOR,
 *         .abi_minor = AXLE_ABI_MINOR, .name = "mychip", .version = "1.0", ...
 *     };
 *     AXLE_PLUGIN_DEFINE(host, error) { (void)error; save(host); return &plugin; }
 *
 * Rules that hold for everything below:
 *
 * R1. What crosses the boundary is plain C99 of fixed width: no bool, enum, long or size_t fields.
 *
 * R2. Every struct begins with `uint32_t struct_size`, set by whoever allocates it, and only grows
 *     at its end within one major version; structs marked FROZEN have no size and never change. A
 *     reader tests AXLE_HAS() before it touches a field or calls a slot that a later minor version
 *     added, or that may be absent.
 *
 * R3. Arrays of growable structs are arrays of pointers.
 *
 * R4. device_info, device_open and device_api are needed, and of a device buffer_create,
 *     buffer_destroy and either buffer_map or both read and write. No other slot ever becomes
 *     mandatory; what an absent one means stands beside it.
 *
 * R5. A plugin links nothing of Axle's; services come through axle_host. No exception, longjmp,
 *     exit or abort crosses the boundary. A plugin prints nothing.
 *
 * R6. A plugin is never closed. shutdown() runs once, from axle_finalize(), never from destructors.
 *
 * R7. Functions that return axle_status return AXLE_OK or a negative AXLE_ERR_* of types.h and then
 *     describe the failure, with its values, in the axle_error they were given (which may be NULL).
 *     Outputs are written only on success.
 *
 * R8. Unless a slot says otherwise, functions may be called from any thread, several at a time;
 *     calls on one queue are serialised by the core. Where there is no queue, op_run itself may be
 *     called by several threads at once.
 *
 * R9. Structs and memory that a function is given are lent for the call only, unless a comment says
 *     that they last longer. Tables that either side gives the other last as long as the process.
 *
 * R10. Flags and reserved fields are 0 where nothing is said about them, and ignored by readers.
 *
 * The operators, their numbers and attributes are in backend_ops.h. The documentation has a
 * tutorial that writes a backend step by step, backend-tutorial.md, and one to copy,
 * plugin-template.
 */
#ifndef AXLE_BACKEND_H
#define AXLE_BACKEND_H

#include "axle/types.h"

AXLE_BEGIN_DECLS

#define AXLE_ABI_MAJOR 1u
#define AXLE_ABI_MINOR 1u

/** Bytes of struct T up to the end of its field f. */
#define AXLE_FIELD_END(T, f) (offsetof(T, f) + sizeof(((T *)0)->f))
/** Whether *p (a T) was allocated with field f, and f, a slot or pointer, is set. */
#define AXLE_HAS(p, T, f) ((p) != NULL && (p)->struct_size >= AXLE_FIELD_END(T, f) && (p)->f)

/* Opaque to the core; a plugin defines them as it likes. */
typedef struct axle_be_device axle_be_device;
typedef struct axle_be_buffer axle_be_buffer;
typedef struct axle_be_queue axle_be_queue;
typedef struct axle_be_event axle_be_event;
/** A prepared operator: a primitive, a kernel with its arguments. */
typedef struct axle_be_op axle_be_op;

typedef int32_t axle_status;

/** Where a failing call describes what went wrong; storage belongs to the caller. */
typedef struct axle_error {
    uint32_t struct_size;
    axle_status code;
    int64_t native_code; /**< cl_int, dnnl_status_t, errno ... */
    uint32_t flags;      /**< AXLE_ERROR_STICKY */
    uint32_t message_capacity;
    char *message; /**< message_capacity bytes; the plugin truncates and always terminates it. */
} axle_error;
enum { AXLE_ERROR_STICKY = 1 /* the queue or device can not be used any more */ };

/* ------------------------------------------------------------------ tensors */

/**
 * Where the elements of a tensor lie. FROZEN.
 * Element (i0, i1, ...) is at byte  offset + sum(i_k * stride_k) * size_of(dtype)  of the buffer.
 * `offset` is a multiple of the element size and nothing more. Strides count elements and are >= 0;
 * a stride of 0 repeats (never in an output). Unused dims and strides are 0.
 */
typedef struct axle_view {
    axle_be_buffer *buffer; /**< NULL in descriptors, and where the tensor has no element. */
    uint64_t offset;
    uint32_t dtype, rank;
    int64_t dim[AXLE_MAX_RANK];
    int64_t stride[AXLE_MAX_RANK];
} axle_view;

/* ------------------------------------------------------------------ host services */

/** Do items [begin, end) of a job; `worker` is in [0, num_workers). */
typedef void (*axle_body)(void *arg, int64_t begin, int64_t end, int32_t worker);

enum { AXLE_LOG_DEBUG = 0, AXLE_LOG_INFO = 1, AXLE_LOG_WARN = 2, AXLE_LOG_ERROR = 3 };

/** Axle's services. Those of version 1.0 are always there. */
typedef struct axle_host {
    uint32_t struct_size, abi_major, abi_minor, flags;
    void *ctx; /**< first argument of everything below */
    /** `level` is an AXLE_LOG_*, `component` the plugin's name, `message` one line without '\n'. */
    void (*log)(void *ctx, int32_t level, const char *component, const char *message);
    /** Value of a setting such as "opencl.fast_math", or NULL. Valid until the process ends. */
    const char *(*option)(void *ctx, const char *key);
    /** Host memory with undefined content; `align` is a power of two. NULL: there is none. */
    void *(*alloc)(void *ctx, uint64_t size, uint64_t align);
    void (*free)(void *ctx, void *p); /**< of alloc() or cache_get(); NULL is fine */
    /** Split [0, n) into pieces of at least `grain` over the process's worker pool; returns when
     * all are done. Not to be called from inside a body. */
    void (*parallel_for)(void *ctx, int64_t n, int64_t grain, axle_body body, void *arg);
    int32_t (*num_workers)(void *ctx); /**< threads that share in parallel_for */
    /** Blob cache on disk: the core hashes the key, checks the content, bounds the size. cache_get
     * returns memory for free(); that a blob is not there (AXLE_ERR_NOT_FOUND) is no failure. */
    axle_status (*cache_get)(void *ctx, const void *key, uint64_t key_size, void **blob,
                             uint64_t *size);
    axle_status (*cache_put)(void *ctx, const void *key, uint64_t key_size, const void *blob,
                             uint64_t size);
    void (*cache_drop)(void *ctx, const void *key, uint64_t key_size);
    /** Since 1.1. Make a blob in one process at a time: of those that share the cache and lock the
     * same key, the others wait, up to two minutes, and then find with cache_get what was put.
     * AXLE_ERR_IO: there is no cache that could be written. `lock` is for cache_unlock, for which
     * NULL is fine; a process that dies unlocks. */
    axle_status (*cache_lock)(void *ctx, const void *key, uint64_t key_size, void **lock);
    void (*cache_unlock)(void *ctx, void *lock);
} axle_host;

/* ------------------------------------------------------------------ devices */

enum {
    AXLE_DEVICE_CPU = 1,
    AXLE_DEVICE_GPU = 2,
    AXLE_DEVICE_IGPU = 3,
    AXLE_DEVICE_ACCELERATOR = 4
};

enum {
    AXLE_CAP_ASYNC = 1u << 0,  /**< op_run may return before the work is done. */
    AXLE_CAP_EVENTS = 1u << 1, /**< The event slots work. */
    /** buffer_map costs nothing, and its pointer stays valid for the buffer's life. */
    AXLE_CAP_HOST_VISIBLE = 1u << 2,
    AXLE_CAP_IMPORT_HOST = 1u << 3,   /**< buffer_import works. */
    AXLE_CAP_MULTI_QUEUE = 1u << 4,   /**< More than one queue may be used at a time. */
    AXLE_CAP_OWN_POOL = 1u << 5,      /**< Uses threads of its own, not parallel_for. */
    AXLE_CAP_DETERMINISTIC = 1u << 6, /**< Same inputs, same bits. */
    AXLE_CAP_FORK_UNSAFE = 1u << 7    /**< A child of fork() cannot use it. */
};

/** Allocated by the core, filled by the plugin up to struct_size. */
typedef struct axle_device_info {
    uint32_t struct_size, kind;    /**< an AXLE_DEVICE_* */
    uint64_t caps;                 /**< AXLE_CAP_* */
    uint64_t mem_total, mem_free;  /**< bytes; 0 = unknown */
    uint64_t max_alloc;            /**< largest single buffer in bytes; 0 = no limit */
    uint32_t base_align, reserved; /**< alignment in bytes that buffers start with */
    uint64_t storage_dtypes;       /**< AXLE_DTYPE_BIT mask: can be held and copied */
    uint64_t compute_dtypes;       /**< AXLE_DTYPE_BIT mask: operators work on them */
    char name[128], description[256], driver[128];
} axle_device_info;

/* ------------------------------------------------------------------ buffers and copies */

enum { AXLE_BUFFER_DEVICE = 0, AXLE_BUFFER_STAGING = 1 /* pinned host memory */ };
enum { AXLE_MAP_READ = 1, AXLE_MAP_WRITE = 2, AXLE_MAP_DISCARD = 4 };
enum {
    AXLE_HOST_DURING_CALL = 0,   /**< The host memory is free again when the call returns. */
    AXLE_HOST_UNTIL_COMPLETE = 1 /**< It stays valid until a later event or finish. */
};

/* ------------------------------------------------------------------ operators */

/** Flags of an operator's description. */
enum {
    AXLE_OPF_DETERMINISTIC = 1, /**< Same bits every time, or AXLE_ERR_UNSUPPORTED. */
    AXLE_OPF_TRAINING = 2       /**< Hint: a backward pass will follow. */
};

/**
 * What to run: an operator number, its operands' shapes and its attributes. An absent optional
 * operand is a NULL pointer in `in` or `out`. Buffers in the views are NULL here, offsets 0.
 */
typedef struct axle_op_desc {
    uint32_t struct_size, op;
    uint32_t n_in, n_out;
    const axle_view *const *in;
    const axle_view *const *out;
    const void *attrs; /**< the operator's struct of backend_ops.h; NULL if it has none */
    uint32_t flags, reserved;
} axle_op_desc;

enum {
    AXLE_SUPPORT_NO = 0,
    AXLE_SUPPORT_YES = 1,
    AXLE_SUPPORT_CONTIGUOUS = 2 /* for row-major operands; the core copies others */
};
enum { AXLE_LAYOUT_ROW_MAJOR = 0, AXLE_LAYOUT_CHANNELS_LAST = 1 };

/** Answer of op_query; allocated by the core with everything 0. */
typedef struct axle_op_info {
    uint32_t struct_size, support;
    uint64_t workspace_size; /**< bytes the core lends to each op_run */
    /** Layout that the device would like its convolution-like outputs to have: an AXLE_LAYOUT_*.
     * The core asks before it allocates outputs (their strides then are row-major in the question).
     */
    uint32_t layout;
    uint32_t reserved;
    char impl[64]; /**< for traces: "dnnl:jit:avx512_core", "cl:gemm_t64" */
} axle_op_info;

/** Operands and per-call values of one op_run. Shapes and strides are those prepared. */
typedef struct axle_op_args {
    uint32_t struct_size, n_in, n_out, reserved;
    const axle_view *const *in;
    const axle_view *const *out;
    axle_be_buffer *workspace; /**< NULL where none was asked for; its content is undefined */
    uint64_t workspace_offset; /**< in bytes */
    uint64_t rng_seed;         /**< Philox key; see backend_ops.h. */
    uint64_t rng_offset;       /**< Number of the first element of the draw. */
    const void *scalars;       /**< The operator's per-call struct of backend_ops.h, or NULL. */
} axle_op_args;

/* ------------------------------------------------------------------ the tables */

typedef struct axle_device_api {
    uint32_t struct_size, reserved;

    /* Queues run strictly in order. `role` is 0 for computing, 1 for transfers. Absent: one
     * implicit synchronous queue, passed as NULL. */
    axle_status (*queue_create)(axle_be_device *, uint32_t role, axle_be_queue **, axle_error *);
    void (*queue_destroy)(axle_be_queue *);
    /* Begin what is enqueued. Absent: nothing to do. */
    axle_status (*queue_flush)(axle_be_queue *, axle_error *);
    /* Wait for all work, and report errors of kernels that ran, such as AXLE_ERR_INDEX. Absent:
     * always finished. */
    axle_status (*queue_finish)(axle_be_queue *, axle_error *);

    /* Events. Absent: the core finishes the queue instead. event_query gives AXLE_OK or
     * AXLE_ERR_NOT_READY; a negative timeout means for ever. */
    axle_status (*event_create)(axle_be_device *, axle_be_event **, axle_error *);
    void (*event_destroy)(axle_be_event *);
    axle_status (*event_record)(axle_be_queue *, axle_be_event *, axle_error *);
    axle_status (*queue_wait)(axle_be_queue *, axle_be_event *, axle_error *);
    axle_status (*event_query)(axle_be_event *, axle_error *);
    axle_status (*event_wait)(axle_be_event *, int64_t timeout_ns, axle_error *);

    /* Memory. `kind` is an AXLE_BUFFER_*. Sizes are > 0; content of a new buffer is undefined;
     * destruction waits for running work. */
    axle_status (*buffer_create)(axle_be_device *, uint32_t kind, uint64_t size, axle_be_buffer **,
                                 axle_error *);
    /* Borrow host memory, aligned for the element types it holds, until the buffer is destroyed.
     * Absent: the core copies. */
    axle_status (*buffer_import)(axle_be_device *, void *host, uint64_t size, axle_be_buffer **,
                                 axle_error *);
    void (*buffer_destroy)(axle_be_buffer *);
    /* Pointer to `size` bytes at `offset`, after all earlier work of the queue; `flags` are
     * AXLE_MAP_*. Absent: write and read. buffer_unmap absent: nothing to do. */
    axle_status (*buffer_map)(axle_be_queue *, axle_be_buffer *, uint64_t offset, uint64_t size,
                              uint32_t flags, void **, axle_error *);
    axle_status (*buffer_unmap)(axle_be_queue *, axle_be_buffer *, void *, axle_error *);
    /* `when` is an AXLE_HOST_*; with AXLE_HOST_DURING_CALL what was read is there on return.
     * Absent: buffer_map. */
    axle_status (*write)(axle_be_queue *, axle_be_buffer *, uint64_t offset, const void *,
                         uint64_t size, uint32_t when, axle_error *);
    axle_status (*read)(axle_be_queue *, axle_be_buffer *, uint64_t offset, void *, uint64_t size,
                        uint32_t when, axle_error *);
    /* Within one device; ranges do not overlap. Absent: the core goes through the host. */
    axle_status (*copy)(axle_be_queue *, axle_be_buffer *dst, uint64_t dst_offset,
                        axle_be_buffer *src, uint64_t src_offset, uint64_t size, axle_error *);
    /* Repeat a pattern of 1, 2, 4 or 8 bytes; size is a multiple of it. Absent: the core writes. */
    axle_status (*fill)(axle_be_queue *, axle_be_buffer *, uint64_t offset, uint64_t size,
                        const void *pattern, uint32_t pattern_size, axle_error *);

    /* Operators. Without op_query nothing is supported and the host does everything. It is cheap
     * and compiles nothing; what it does not know, a new kind or type, it declines. */
    axle_status (*op_query)(axle_be_device *, const axle_op_desc *, axle_op_info *);
    /* Called for descriptions that op_query accepted: in the case of AXLE_SUPPORT_CONTIGUOUS, for
     * row-major ones. */
    axle_status (*op_prepare)(axle_be_device *, const axle_op_desc *, axle_be_op **, axle_error *);
    /* Re-entrant: one prepared operator may run on several queues at once. */
    axle_status (*op_run)(axle_be_queue *, axle_be_op *, const axle_op_args *, axle_error *);
    /* No op_run is under way; enqueued work may still use it. */
    void (*op_release)(axle_be_op *);

    /* Optional extras. `what` is a word such as "dnnl_engine" or "cl_context". */
    axle_status (*native_handle)(axle_be_device *, const char *what, void **);
    axle_status (*set_option)(axle_be_device *, const char *key, const char *value, axle_error *);
} axle_device_api;

typedef struct axle_plugin {
    uint32_t struct_size, abi_major, abi_minor, flags;
    const char *name; /**< lower-case word used in AXLE_BACKEND; the file is NAME.so */
    const char *version, *vendor, *license;
    /** 0: of no use on this machine; else a score, higher is preferred by `auto` (reference 10,
     * OpenCL CPU device 20, OpenBLAS 30, oneDNN 40, GPU 50). Starts no threads, sets up no device,
     * and takes under 50 ms. Absent: 1. */
    int32_t (*probe)(void);
    axle_status (*device_count)(uint32_t *, axle_error *); /* absent: 1 */
    axle_status (*device_info)(uint32_t index, axle_device_info *,
                               axle_error *); /* creates no context */
    axle_status (*device_open)(uint32_t index, axle_be_device **, axle_error *);
    void (*device_close)(axle_be_device *);
    const axle_device_api *(*device_api)(axle_be_device *);
    void *(*extension)(const char *name); /* absent or NULL: no such extension */
    void (*shutdown)(void);               /* absent: nothing to do */
} axle_plugin;

/**
 * Extension: a text (char *) for people on where the plugin looked for devices and what it met,
 * such as drivers that do not load and devices that it leaves out. Lines are separated by '\n'.
 * Asked after probe(); valid until the process ends.
 */
#define AXLE_EXTENSION_FINDINGS "findings"

/**
 * Extension: the names (char *) of the settings that the plugin reads with the host's option(),
 * such as "opencl.tune", separated by '\n'. Axle warns of others that are set in the plugin's name.
 * Valid until the process ends.
 */
#define AXLE_EXTENSION_OPTIONS "options"

/** The only exported symbol; the major version is part of its name. */
#define AXLE_PLUGIN_ENTRY "axle_plugin_init_v1"
typedef const axle_plugin *(*axle_plugin_init_fn)(const axle_host *host, axle_error *error);
/** Head of that function's definition. It returns NULL, and fills *error, to decline. */
#define AXLE_PLUGIN_DEFINE(host, error)                                                            \
    AXLE_EXTERN AXLE_API const axle_plugin *axle_plugin_init_v1(const axle_host *host,             \
                                                                axle_error *error);                \
    AXLE_API const axle_plugin *axle_plugin_init_v1(const axle_host *host, axle_error *error)

AXLE_END_DECLS

#endif
