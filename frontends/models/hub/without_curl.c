/* SPDX-License-Identifier: Apache-2.0 */
/* In place of server.c, where this was built without libcurl or Nettle. */
#include "hub.h"

int axle__hub_list(axle__hub_request *request, axle__hub_listing *out)
{
    (void)out;
    return axle__hub_fail(request, AXLE_ERR_UNSUPPORTED,
                          "%s: it is not in the cache %s, and this build cannot download "
                          "(configure --with-curl)",
                          request->model, request->cache);
}

int axle__hub_download(axle__hub_request *request, const axle__hub_listing *listing)
{
    (void)listing;
    return axle__hub_list(request, NULL);
}
