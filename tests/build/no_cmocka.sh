# SPDX-License-Identifier: Apache-2.0
#
# Stands in for the unit tests where configure did not find cmocka.
echo '1..0 # SKIP the unit tests need cmocka (Debian package: libcmocka-dev)'
