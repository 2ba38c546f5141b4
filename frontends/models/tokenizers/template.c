/* SPDX-License-Identifier: Apache-2.0 */
#include "template.h"

const axle__layout axle__layout_plain = {
    .single = {{{AXLE__FIRST_TEXT, 0}}, 1},
    .pair = {{{AXLE__FIRST_TEXT, 0}, {AXLE__SECOND_TEXT, 1}}, 2},
};

bool axle__template_put(axle__template *template, int32_t id, int32_t type)
{
    if (template->count == AXLE__MOST_PLACES)
        return false;
    template->places[template->count++] = (axle__place){id, type};
    return true;
}

int axle__template_specials(const axle__template *template)
{
    int count = 0;
    for (int k = 0; k < template->count; k++)
        count += template->places[k].id >= 0;
    return count;
}
