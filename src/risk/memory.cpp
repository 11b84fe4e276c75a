#include "risk/memory.hpp"

#include <cmath>

namespace dp::risk {

Size share_of_memory() {
    return static_cast<Size>(work_mem) * 1024 / 4;
}

constexpr double mega = 1024 * 1024, beside = 80;

void check_memory(double bytes, const char *what, const char *instead) {
    double limit = static_cast<double>(get_hash_memory_limit()) / mega + beside, wanted = std::ceil(bytes / mega);
    if (wanted <= limit)
        return;
    double work = std::ceil((wanted - beside) / hash_mem_multiplier);
    ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("%s would take about %.0f MB of memory", what, wanted),
                    errdetail("The limit is work_mem times hash_mem_multiplier and %.0f MB: %.0f MB.", beside, limit),
                    errhint("SET work_mem = '%.0fMB'%s%s.", work, instead == nullptr ? "" : ", or ",
                            instead == nullptr ? "" : instead)));
}

} // namespace dp::risk
