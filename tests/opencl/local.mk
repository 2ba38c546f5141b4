# SPDX-License-Identifier: Apache-2.0
#
# The OpenCL backend, on devices that a mock driver describes and on those that are there.
opencl_tests = \
	%D%/cache.sh \
	%D%/crowd.sh \
	%D%/drivers.sh \
	%D%/enumeration.sh \
	%D%/limits.sh \
	%D%/oclgrind.sh \
	%D%/products.sh
TESTS += $(opencl_tests)
EXTRA_DIST += $(opencl_tests) %D%/support.sh

if WITH_OPENCL
check_LTLIBRARIES += %D%/mock_icd.la
%C%_mock_icd_la_SOURCES = \
	%D%/mock_icd.c \
	%D%/mock_icd.h \
	%D%/mock_objects.c
%C%_mock_icd_la_LDFLAGS = $(test_module_ldflags)

check_PROGRAMS += %D%/products %D%/variants
%C%_products_LDADD = libaxle.la -lm
%C%_products_LDFLAGS = $(black_box_ldflags)
%C%_variants_LDADD = libaxle.la -lm
%C%_variants_LDFLAGS = $(black_box_ldflags)
endif

# What takes minutes: all variants, all devices that programs are compiled for, rusticl. And all
# operators in Oclgrind, which simulates a device and tells of invalid accesses, races and values that
# were never written.
check-opencl:
	OPENCL_TESTS=full $(MAKE) check TEST_TIMEOUT=3600 TESTS='$(opencl_tests) tests/build/opencl_kernels.sh \
	  $(filter %_opencl.sh %_opencl_1.sh %_opencl_7.sh %_opencl_64.sh,$(conformance_tests))'
check-oclgrind:
	OPENCL_TESTS=full $(MAKE) check TEST_TIMEOUT=7200 TESTS='%D%/oclgrind.sh'
.PHONY: check-opencl check-oclgrind
