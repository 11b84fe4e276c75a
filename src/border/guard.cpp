#include "border/guard.hpp"

#include <stdexcept>

namespace dp::border {

static void keep(Caught &caught, int sqlstate, const char *message) noexcept {
    caught.sqlstate = sqlstate;
    strlcpy(caught.message, message, sizeof caught.message);
}

void describe_current_exception(Caught &caught) noexcept {
    try {
        throw;
    } catch (const std::invalid_argument &e) { // privacy::InvalidParameter: a message for the user
        keep(caught, ERRCODE_INVALID_PARAMETER_VALUE, e.what());
    } catch (const std::bad_alloc &) {
        keep(caught, ERRCODE_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception &e) {
        keep(caught, ERRCODE_INTERNAL_ERROR, e.what());
    } catch (...) {
        keep(caught, ERRCODE_INTERNAL_ERROR, "unknown C++ exception");
    }
}

void raise(const Caught &caught) {
    ereport(ERROR, (errcode(caught.sqlstate), errmsg("%s", caught.message)));
    pg_unreachable();
}

} // namespace dp::border
