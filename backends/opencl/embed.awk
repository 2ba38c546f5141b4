# SPDX-License-Identifier: Apache-2.0
#
# Writes the C source that holds the .cl files named as arguments, one array of characters a file:
# string literals as long as a kernel file are more than compilers must accept.
FNR == 1 {
    if (name != "")
        print "    0};"
    else
        print "/* Generated from kernels/. */\n#include \"sources.h\"\n"
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.cl$/, "", name)
    names[++count] = name
    print "static const char text_" name "[] = {"
}
{
    line = $0 "\n"
    out = "   "
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\n")
            out = out " 10,"
        else if (c == "'" || c == "\\")
            out = out " '\\" c "',"
        else
            out = out " '" c "',"
    }
    print out
}
END {
    if (name != "")
        print "    0};"
    print "\nconst ocl_source ocl_sources[] = {"
    for (i = 1; i <= count; i++)
        print "    {\"" names[i] "\", text_" names[i] "},"
    print "    {0, 0},\n};"
}
