// Returns the page, its style and its script, which the Makefile makes literals of.
#include "picture/page.hpp"

namespace dp::picture {

const char *report_template() {
    static const char text[] =
#include "picture/report.html.inc"
        ;
    return text;
}

const char *report_style() {
    static const char text[] =
#include "picture/report.css.inc"
        ;
    return text;
}

const char *report_script() {
    static const char text[] =
#include "picture/report.js.inc"
        ;
    return text;
}

} // namespace dp::picture
