# SPDX-License-Identifier: Apache-2.0
#
# Programs of one file each. The tests run them.
example_programs = \
	%D%/01_tensor \
	%D%/02_linear_regression \
	%D%/fashion_mnist \
	%D%/finetune \
	%D%/gan
noinst_PROGRAMS += $(example_programs)
EXTRA_DIST += %D%/demo.sh

# Run by the tests of the Python package.
EXTRA_DIST += \
	%D%/python/checkpointing.py \
	%D%/python/common.py \
	%D%/python/gradient_accumulation.py \
	%D%/python/nlp_example.py \
	%D%/python/paraphrases.py \
	%D%/python/tracking.py

# Without -no-install libtool would put a script in each program's place.
example_ldflags = $(AM_LDFLAGS) -no-install
%C%_01_tensor_LDADD = libaxle.la
%C%_01_tensor_LDFLAGS = $(example_ldflags)
%C%_02_linear_regression_LDADD = libaxle.la
%C%_02_linear_regression_LDFLAGS = $(example_ldflags)
%C%_fashion_mnist_LDADD = libaxle-models.la libaxle.la
%C%_fashion_mnist_LDFLAGS = $(example_ldflags)
%C%_finetune_LDADD = libaxle-models.la libaxle.la
%C%_finetune_LDFLAGS = $(example_ldflags)
%C%_gan_LDADD = libaxle-track.la libaxle.la
%C%_gan_LDFLAGS = $(example_ldflags)

# What vendors copy: a project of its own, installed beside the documentation.
plugintemplatedir = $(docdir)/plugin-template
dist_plugintemplate_DATA = \
	%D%/plugin-template/Makefile.am \
	%D%/plugin-template/README.md \
	%D%/plugin-template/arithmetic.c \
	%D%/plugin-template/configure.ac \
	%D%/plugin-template/matmul.c \
	%D%/plugin-template/memory.c \
	%D%/plugin-template/ops.c \
	%D%/plugin-template/plugin.c \
	%D%/plugin-template/relu.c \
	%D%/plugin-template/template.h
