// SPDX-License-Identifier: Apache-2.0
//
// A plain Gloo program in a module: the limit that `axle bench allreduce --direct` measures beside
// Axle. Processes meet through files in a folder.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#define RING_API extern "C" __attribute__((visibility("default")))

namespace
{

struct ring {
    std::shared_ptr<gloo::rendezvous::Context> context;
    float *data;
    size_t count;
};

using store_ptr = std::shared_ptr<gloo::rendezvous::FileStore>;
using device_ptr = std::shared_ptr<gloo::transport::Device>;

// The store by pointer, as it is today, or by reference, as it was.
template <class Context>
auto connect(Context &context, const store_ptr &store, device_ptr &device, int)
    -> decltype(context.connectFullMesh(store, device))
{
    return context.connectFullMesh(store, device);
}

template <class Context>
auto connect(Context &context, const store_ptr &store, device_ptr &device, long)
    -> decltype(context.connectFullMesh(*store, device))
{
    return context.connectFullMesh(*store, device);
}

int failed(const char *what, char *message, size_t size)
{
    std::snprintf(message, size, "%s", what);
    return -1;
}

} // namespace

// Sums of `count` floats at `data`, which stays with the caller. `address` "" is that of the host's
// name. Returns 0, or -1 with a message.
RING_API int axle_bench_ring_create(int rank, int size, const char *folder, const char *address,
                                    float *data, int64_t count, void **out, char *message,
                                    size_t message_size)
{
    try {
        auto made = std::make_unique<ring>();
        gloo::transport::tcp::attr attributes;
        attributes.hostname = address;
        device_ptr device = gloo::transport::tcp::CreateDevice(attributes);
        made->context = std::make_shared<gloo::rendezvous::Context>(rank, size);
        connect(*made->context, std::make_shared<gloo::rendezvous::FileStore>(folder), device, 0);
        made->data = data;
        made->count = static_cast<size_t>(count);
        *out = made.release();
        return 0;
    } catch (const std::exception &e) {
        return failed(e.what(), message, message_size);
    } catch (...) {
        return failed("Gloo threw something unknown", message, message_size);
    }
}

RING_API int axle_bench_run(void *workload)
{
    try {
        ring *r = static_cast<ring *>(workload);
        gloo::AllreduceOptions options(r->context);
        options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
        options.setOutput(r->data, r->count);
        void (*sum)(void *, const void *, const void *, size_t) = &gloo::sum<float>;
        options.setReduceFunction(sum);
        gloo::allreduce(options);
        return 0;
    } catch (...) {
        return -1;
    }
}

RING_API void axle_bench_release(void *workload)
{
    try {
        delete static_cast<ring *>(workload);
    } catch (...) {
    }
}
