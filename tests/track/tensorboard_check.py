#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Read the run of write_run with PyPI's tensorboard and compare all of it.

    tensorboard_check.py DIR LAST PICTURES

DIR holds the event files, LAST is the last step, PICTURES is 1 where that has a picture.
"""
import math
import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.hparams import plugin_data_pb2


def expected(step):
    return {
        "train/loss": 1.0 / (step + 1),
        "größe": float(step),
        "nan": math.nan,
        "infinite": math.inf if step % 2 else -math.inf,
    }


def same(a, b):
    if math.isnan(b):
        return math.isnan(a)
    return a == b or math.isclose(a, b, rel_tol=1e-7)


def check_scalars(events, last):
    """events: of one run, as the classic reader gives them."""
    tags = events.Tags()["scalars"]
    for tag in list(expected(0)) + ["mean rank"]:
        assert tag in tags, f"{tag} is not among {tags}"
    for tag in expected(0):
        points = events.Scalars(tag)
        assert [p.step for p in points] == list(range(last + 1)), (tag, [p.step for p in points])
        for point in points:
            value = expected(point.step)[tag]
            assert same(point.value, value), (tag, point.step, point.value, value)
            assert point.wall_time > 1.7e9
    return len(expected(0)) * (last + 1)


def check_hparams(events):
    data = plugin_data_pb2.HParamsPluginData()
    contents = events.PluginTagToContent("hparams")
    data.ParseFromString(contents["_hparams_/session_start_info"])
    params = data.session_start_info.hparams
    assert params["lr"].number_value == 0.1, params
    assert params["net.width"].number_value == 8, params
    assert params["net.kind"].string_value == "lenet", params
    assert params["deep"].bool_value is True, params
    data.ParseFromString(contents["_hparams_/session_end_info"])
    assert data.session_end_info.status == 1, data
    return len(params)


def check_picture(events, last):
    picture = events.Images("samples")[-1]
    assert picture.step == last, picture.step
    assert (picture.width, picture.height) == (18, 18), (picture.width, picture.height)
    assert picture.encoded_image_string.startswith(b"\x89PNG\r\n\x1a\n")


def main():
    folder, last, pictures = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1"
    events = event_accumulator.EventAccumulator(folder, size_guidance={"scalars": 0, "images": 0})
    events.Reload()
    scalars = check_scalars(events, last)
    params = check_hparams(events)
    if pictures:
        check_picture(events, last)
    print(f"{scalars} scalars, {params} hyper-parameters are as they should be")


main()
