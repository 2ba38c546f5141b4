# SPDX-License-Identifier: Apache-2.0
#
# All tests speak TAP: C programs through cmocka, shell scripts with the help of tests/tap.sh.
# White-box programs link the core's objects; programs that load backends link libaxle.la; none
# links both, or its process would hold two registries.
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(top_srcdir)/%D%/run
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL) $(top_srcdir)/%D%/run $(SHELL)
