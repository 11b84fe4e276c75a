// Tells whether a statement shows the groups of a release, or computes with them (architecture.md, 3.2).
//
// Small groups that nobody declared are withheld (formulas.md, 8.5). Whoever reads them sees that; whoever
// counts, joins or cuts them gets a number that looks like an answer about everybody.
#pragma once

#include "border/walk.hpp"

namespace dp::query {

bool is_release(Oid function);
// leaf, epsilon, weight, within, error95, deviations, replay, max_rows, max_groups, max_rows_per_group; then the parameters of the leaf.
constexpr int release_arguments = 10;
// The function of that signature; parameters: with some.
Oid release_function(bool parameters);

// Leaves in a call of release() how many rows the planner is to expect of it: of groups that are declared, or that the type has,
// their number; of others a guess. Nothing that PostgreSQL knows about the table is asked, since plans are shown. leaf: its keys.
void expect_rows(FuncExpr *call, const Query *leaf);
// Returns the number that expect_rows left in the call. 0: somebody wrote the call himself.
double expected_rows(Node *call);

// Goes on into a query's parts. A CTE that nothing refers to, be it that it was folded into a leaf, is not executed.
bool walk_executed(Query *query, border::Walker walker, void *context);
// Whether a rewritten statement reads a restricted view other than by a release.
bool shows_rows(Query *query);

// Marks the releases of a rewritten statement whose groups it computes with.
void mark_used_groups(Query *query);
// Says what a statement does with the groups of a call of release(): shows them, shows the first of them, or computes with them.
enum class Use { shown, cut, computed };
Use use_of_groups(Node *call);

// The setting dp_rdr.noise: rows of GROUP BY that are nothing but noise are shown, left out, or shown without a word.
enum class NoiseRows { show, hide, silent };
void define_noise_setting();
NoiseRows noise_rows();

} // namespace dp::query
