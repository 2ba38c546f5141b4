# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += \
	%D%/design.md \
	%D%/style.md
nobase_dist_doc_DATA = \
	%D%/backend-tutorial.md \
	%D%/python.md
