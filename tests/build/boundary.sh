# SPDX-License-Identifier: Apache-2.0
#
# Backends and front ends see include/axle only; folders of the core include only those above them.
. "$top_srcdir/tests/tap.sh"

# The order of the core's folders: each may include only those before it.
layers='base job device tensor autograd nn optim data io group train'

# includes_of FOLDER: print "FILE INCLUDED" for each include in quotes.
includes_of()
{
    find "$1" -name '*.[ch]' -exec sed -n \
        's|^[[:space:]]*#[[:space:]]*include[[:space:]]*"\(\.\./\)*\(core/\)*\([^"]*\)".*|\3|p' {} + | sort -u
}

# stays_outside FOLDER: whether no file includes one of the core's.
stays_outside()
{
    includes_of "$top_srcdir/$1" | while read -r included; do
        [ ! -e "$top_srcdir/core/$included" ] || echo "it includes $included"
    done | complain_of_none
}

# includes_downward LAYER LATER-LAYERS: whether no file includes one of a later layer.
includes_downward()
{
    includes_of "$top_srcdir/core/$1" | while read -r included; do
        case " $2 " in
            *" ${included%%/*} "*) echo "it includes $included" ;;
        esac
    done | complain_of_none
}

# Pass on what is read, and fail if there was any.
complain_of_none()
{
    ! grep .
}

flags_stay_outside()
{
    case " $outside_cppflags " in
        */core\ * | *' -I. '* | *' -I.. '*) echo "$outside_cppflags"; return 1 ;;
    esac
}

check 'the flags for backends and front ends reach no folder but include' flags_stay_outside
for folder in backends frontends examples bench; do
    check "$folder include nothing of the core" stays_outside "$folder"
done

later=$layers
for layer in $layers; do
    later=${later#"$layer"}
    later=${later# }
    if [ ! -d "$top_srcdir/core/$layer" ] || [ -z "$later" ]; then
        continue
    fi
    check "core/$layer includes none of: $later" includes_downward "$layer" "$later"
done
finish
