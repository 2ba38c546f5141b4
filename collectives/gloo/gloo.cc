// SPDX-License-Identifier: Apache-2.0
//
// Messages over Gloo's TCP transport. Every call into Gloo is wrapped, so that no exception leaves
// this file. Gloo of 2022 and of today differ in how they take the store.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gloo/common/error.h>
#include <gloo/config.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include "axle/collective.h"

namespace
{

using std::chrono::milliseconds;
using buffer_ptr = std::unique_ptr<gloo::transport::UnboundBuffer>;

const axle_host *services;

// ------------------------------------------------------------------ errors

axle_status fail(axle_error *error, axle_status code, const char *message)
{
    if (error) {
        error->code = code;
        if (error->message && error->message_capacity)
            std::snprintf(error->message, error->message_capacity, "%s", message);
    }
    return code;
}

// Run a body that may throw.
template <class Body> axle_status guarded(axle_error *error, Body body)
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return fail(error, AXLE_ERR_NOMEM, "out of memory");
    } catch (const gloo::IoException &e) {
        return fail(error, AXLE_ERR_IO, e.what());
    } catch (const std::exception &e) {
        return fail(error, AXLE_ERR_INTERNAL, e.what());
    } catch (...) {
        return fail(error, AXLE_ERR_INTERNAL, "Gloo threw something unknown");
    }
}

milliseconds in_milliseconds(int64_t ns)
{
    return milliseconds(ns / 1000000 > 0 ? ns / 1000000 : 1);
}

// ------------------------------------------------------------------ meeting

struct refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class job_store : public gloo::rendezvous::Store
{
  public:
    job_store(const axle_cl_store *store, int64_t timeout_ns)
        : store_(store), timeout_ns_(timeout_ns)
    {
    }

    void set(const std::string &key, const std::vector<char> &data) override
    {
        text_error error;
        if (store_->set(store_->ctx, key.c_str(), data.data(), data.size(), &error.record))
            throw refused(error.text);
    }

    std::vector<char> get(const std::string &key) override
    {
        return wait_for(key, timeout_ns_);
    }

    void wait(const std::vector<std::string> &keys) override
    {
        for (const std::string &key : keys)
            wait_for(key, timeout_ns_);
    }

    void wait(const std::vector<std::string> &keys, const milliseconds &) override
    {
        wait(keys);
    }

  private:
    struct text_error {
        char text[512] = "";
        axle_error record = {sizeof(axle_error), 0, 0, 0, sizeof(text), text};
    };

    std::vector<char> wait_for(const std::string &key, int64_t timeout_ns)
    {
        text_error error;
        void *value = nullptr;
        uint64_t size = 0;
        if (store_->get(store_->ctx, key.c_str(), timeout_ns, &value, &size, &error.record))
            throw refused(error.text);
        const char *bytes = static_cast<const char *>(value);
        std::vector<char> copy(bytes, bytes + size);
        services->free(services->ctx, value);
        return copy;
    }

    const axle_cl_store *store_;
    int64_t timeout_ns_;
};

using device_ptr = std::shared_ptr<gloo::transport::Device>;

// The store by pointer, as it is today, or by reference, as it was.
template <class Context>
auto connect(Context &context, const std::shared_ptr<job_store> &store, device_ptr &device, int)
    -> decltype(context.connectFullMesh(store, device))
{
    return context.connectFullMesh(store, device);
}

template <class Context>
auto connect(Context &context, const std::shared_ptr<job_store> &store, device_ptr &device, long)
    -> decltype(context.connectFullMesh(*store, device))
{
    return context.connectFullMesh(*store, device);
}

} // namespace

// ------------------------------------------------------------------ groups and messages

struct axle_cl_group {
    device_ptr device;
    std::shared_ptr<gloo::rendezvous::Context> context;
    std::mutex mutex; // of what follows
    std::set<axle_cl_request *> pending;
    bool aborted = false;
};

struct axle_cl_request {
    axle_cl_group *group;
    buffer_ptr buffer;
    bool sends;
};

namespace
{

axle_status group_create(const axle_cl_config *config, axle_cl_group **out, axle_error *error)
{
    return guarded(error, [&] {
        auto group = std::make_unique<axle_cl_group>();
        gloo::transport::tcp::attr attributes;
        attributes.hostname = config->address;
        group->device = gloo::transport::tcp::CreateDevice(attributes);
        group->context = std::make_shared<gloo::rendezvous::Context>(config->rank, config->size);
        // Gloo waits five times as long for each connection.
        group->context->setTimeout(in_milliseconds(config->timeout_ns / 5));
        auto store = std::make_shared<job_store>(config->store, config->timeout_ns);
        connect(*group->context, store, group->device, 0);
        *out = group.release();
        return AXLE_OK;
    });
}

void group_destroy(axle_cl_group *group)
{
    guarded(nullptr, [&] {
        group->context->closeConnections();
        for (axle_cl_request *request : group->pending)
            delete request;
        delete group;
        return AXLE_OK;
    });
}

void group_abort(axle_cl_group *group)
{
    guarded(nullptr, [&] {
        std::lock_guard<std::mutex> lock(group->mutex);
        group->aborted = true;
        for (axle_cl_request *request : group->pending) {
            if (request->sends)
                request->buffer->abortWaitSend();
            else
                request->buffer->abortWaitRecv();
        }
        return AXLE_OK;
    });
}

axle_status start(axle_cl_group *group, int32_t peer, uint64_t tag, void *data, uint64_t size,
                  bool sends, axle_cl_request **out, axle_error *error)
{
    return guarded(error, [&] {
        auto request = std::make_unique<axle_cl_request>();
        request->group = group;
        request->sends = sends;
        request->buffer = group->context->createUnboundBuffer(data, size);
        {
            std::lock_guard<std::mutex> lock(group->mutex);
            if (group->aborted)
                return fail(error, AXLE_ERR_INTERRUPTED, "the group was aborted");
            group->pending.insert(request.get());
        }
        // From here on the group owns the request: a message that throws is half on its way.
        axle_cl_request *started = request.release();
        if (sends)
            started->buffer->send(peer, tag);
        else
            started->buffer->recv(peer, tag);
        *out = started;
        return axle_status(AXLE_OK);
    });
}

axle_status send(axle_cl_group *group, int32_t peer, uint64_t tag, const void *data, uint64_t size,
                 axle_cl_request **out, axle_error *error)
{
    return start(group, peer, tag, const_cast<void *>(data), size, true, out, error);
}

axle_status recv(axle_cl_group *group, int32_t peer, uint64_t tag, void *data, uint64_t size,
                 axle_cl_request **out, axle_error *error)
{
    return start(group, peer, tag, data, size, false, out, error);
}

// A message that was not finished stays with the group: Gloo may still touch its memory until the
// connections are closed.
axle_status wait(axle_cl_request *request, int64_t timeout_ns, axle_error *error)
{
    return guarded(error, [&]() -> axle_status {
        auto begin = std::chrono::steady_clock::now();
        bool done = false;
        try {
            done = request->sends ? request->buffer->waitSend(in_milliseconds(timeout_ns))
                                  : request->buffer->waitRecv(in_milliseconds(timeout_ns));
        } catch (const gloo::IoException &e) {
            auto passed = std::chrono::steady_clock::now() - begin;
            bool late = passed >= in_milliseconds(timeout_ns);
            return fail(error, late ? AXLE_ERR_TIMEOUT : AXLE_ERR_IO, e.what());
        }
        if (!done)
            return fail(error, AXLE_ERR_INTERRUPTED, "the group was aborted");
        {
            std::lock_guard<std::mutex> lock(request->group->mutex);
            request->group->pending.erase(request);
        }
        delete request;
        return AXLE_OK;
    });
}

char version[32];

axle_collective describe()
{
    std::snprintf(version, sizeof(version), "%d.%d.%d", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR,
                  GLOO_VERSION_PATCH);
    axle_collective table = {};
    table.struct_size = sizeof(table);
    table.abi_major = AXLE_COLLECTIVE_ABI_MAJOR;
    table.abi_minor = AXLE_COLLECTIVE_ABI_MINOR;
    table.name = "gloo";
    table.version = version;
    table.vendor = "Axle";
    table.license = "Apache-2.0";
    table.group_create = group_create;
    table.group_destroy = group_destroy;
    table.group_abort = group_abort;
    table.send = send;
    table.recv = recv;
    table.wait = wait;
    return table;
}

} // namespace

AXLE_COLLECTIVE_DEFINE(host, error)
{
    (void)error;
    static const axle_collective table = describe();
    services = host;
    return &table;
}
