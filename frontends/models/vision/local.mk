# SPDX-License-Identifier: Apache-2.0
#
# Models of pictures.
libaxle_models_la_SOURCES += \
	%D%/build.c \
	%D%/image.c \
	%D%/lenet.c \
	%D%/mlp.c \
	%D%/models.h \
	%D%/resnet.c
