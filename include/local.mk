# SPDX-License-Identifier: Apache-2.0
#
# The public headers. Each compiles alone; a test checks that this list is complete.
pkginclude_HEADERS += \
	%D%/axle/accelerator.h \
	%D%/axle/autocast.h \
	%D%/axle/autograd.h \
	%D%/axle/axle.h \
	%D%/axle/backend.h \
	%D%/axle/backend_ops.h \
	%D%/axle/checkpoint.h \
	%D%/axle/collective.h \
	%D%/axle/data.h \
	%D%/axle/device.h \
	%D%/axle/ema.h \
	%D%/axle/group.h \
	%D%/axle/hub.h \
	%D%/axle/lora.h \
	%D%/axle/metrics.h \
	%D%/axle/model.h \
	%D%/axle/models.h \
	%D%/axle/nn.h \
	%D%/axle/ops.h \
	%D%/axle/optim.h \
	%D%/axle/profile.h \
	%D%/axle/random.h \
	%D%/axle/records.h \
	%D%/axle/reference.h \
	%D%/axle/safetensors.h \
	%D%/axle/status.h \
	%D%/axle/tensor.h \
	%D%/axle/text.h \
	%D%/axle/tokenizer.h \
	%D%/axle/track.h \
	%D%/axle/transformers.h \
	%D%/axle/types.h
