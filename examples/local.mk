# SPDX-License-Identifier: Apache-2.0
#
# Programs of one file each. The tests run them.
example_programs = \
	%D%/01_tensor \
	%D%/02_linear_regression \
	%D%/fashion_mnist \
	%D%/gan
noinst_PROGRAMS += $(example_programs)
EXTRA_DIST += %D%/demo.sh

# Without -no-install libtool would put a script in each program's place.
example_ldflags = $(AM_LDFLAGS) -no-install
%C%_01_tensor_LDADD = libaxle.la
%C%_01_tensor_LDFLAGS = $(example_ldflags)
%C%_02_linear_regression_LDADD = libaxle.la
%C%_02_linear_regression_LDFLAGS = $(example_ldflags)
%C%_fashion_mnist_LDADD = libaxle-models.la libaxle.la
%C%_fashion_mnist_LDFLAGS = $(example_ldflags)
%C%_gan_LDADD = libaxle.la
%C%_gan_LDFLAGS = $(example_ldflags)
