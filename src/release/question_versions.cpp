#include "release/question_versions.hpp"

#include "release/identity.hpp"
#include "rows/public_rows.hpp"

namespace dp::release {

const char *versions_of(const catalog::Settings &settings) {
    return psprintf("%s|%s", settings.fingerprint, settings.policies == nullptr ? "" : settings.policies);
}

uint64 versions_hash(const rows::Question *question) {
    StringInfoData versions;
    initStringInfo(&versions);
    appendStringInfoString(&versions, versions_of(*question->settings));
    if (question->identity != Datum{0})
        add_identity(&versions, question->identity);
    return hash_bytes_extended(reinterpret_cast<const unsigned char *>(versions.data), versions.len,
                               question->looked_up);
}

} // namespace dp::release
