#include "border/refuse.hpp"

namespace dp {

void refuse_with(int sqlstate, const char *message, const char *hint, const char *detail) {
    ereport(ERROR, (errcode(sqlstate), errmsg("%s", message), detail == nullptr ? 0 : errdetail("%s", detail),
                    hint == nullptr ? 0 : errhint("%s", hint)));
    pg_unreachable();
}

void refuse_value(const char *message, const char *hint, const char *detail) {
    refuse_with(ERRCODE_INVALID_PARAMETER_VALUE, message, hint, detail);
}

void refuse_state(const char *message, const char *hint, const char *detail) {
    refuse_with(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message, hint, detail);
}

void refuse_form(const char *message, const char *hint, const char *detail) {
    refuse_with(ERRCODE_FEATURE_NOT_SUPPORTED, message, hint, detail);
}

void refuse_right(const char *message, const char *hint, const char *detail) {
    refuse_with(ERRCODE_INSUFFICIENT_PRIVILEGE, message, hint, detail);
}

void refuse_size(const char *message, const char *hint, const char *detail) {
    refuse_with(ERRCODE_PROGRAM_LIMIT_EXCEEDED, message, hint, detail);
}

} // namespace dp
