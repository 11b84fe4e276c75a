// Tells which values a constant argument of a total function may have (query/total_table).
#pragma once

#include "border/postgres.hpp"

namespace dp::query::accepted {

constexpr int longest_pattern = 1000; // bytes

bool is_short(const Const *value);
bool is_pattern(const Const *value);
bool is_count(const Const *value);
bool is_length(const Const *value);
bool is_scale(const Const *value);
bool is_numeric_typmod(const Const *value);
bool is_explicit(const Const *value);
bool is_trunc_field(const Const *value);
bool is_date_field(const Const *value);
bool is_timestamp_field(const Const *value);
bool is_interval_field(const Const *value);
bool is_time_field(const Const *value);
bool is_of_buckets(const Const *value);
bool is_of_bins(const Const *value);
bool is_format_of_dates(const Const *value);
bool is_date_style(const Const *value);
bool is_of_fields(const Const *value);
bool is_of_document(const Const *value);
bool is_zone(const Const *value);

} // namespace dp::query::accepted
