// A question as it arrives: a leaf's text, and what it is asked for. It is resolved where the rows are read, whatever its
// sender has checked (architecture.md, 3.3).
#pragma once

#include "release/release.hpp"

namespace dp::release {

struct Wish;
struct Signal;

struct Ask {
    catalog::Asker asker;
    const char *leaf;      // written and read under pinned settings
    const char *time_zone; // the asker's: some types are compared in it
    const char *versions;  // of the settings that an open transaction of the asker's sees; null: it has changed nothing
    Oid view;              // the facade, as the asker has read it; InvalidOid: not known yet
    bool has_epsilon;
    privacy::Epsilon epsilon; // asks for less
    double weight;
    privacy::Wanted wanted;
    query::Limits limits;
    bool anew;                // not answered by what is stored, nor stored
    bool refines;             // the last answer,
    Refinable refinable;      // which is this
    bool by_request;          // it is asked for, or permitted by, a request
    const Decision *decision; // the latter; null otherwise
    const Wish *wish;         // a signal on the answer to this question; null: the answer
    bool hide;                // rows of noise are left out
    int noutputs;             // columns that the asker expects
    Oid *output_types;        // null: those of the leaf
    Oid *parameter_types;
    ParamListInfo parameters; // $1 ... of the leaf
};

// Hashes these, what was looked up in public tables, and what the question was resolved to: to be compared later.
uint64 versions_hash(const rows::Question *question);
// Which versions of settings and policies a question rests on (catalog::read_settings, policy_of), as one text.
const char *versions_of(const catalog::Settings &settings);

// 42501 where the policy permits requests only.
void check_direct(const catalog::Policy &policy, const catalog::Settings &settings);

struct Resolved {
    rows::Question *question;
    Terms terms;
    const Signal *signal; // null: the answer is asked for
};

// Parses and checks the leaf.
query::Leaf *leaf_of(const Ask &ask);
// Parses it, checks its columns, and the caller's SELECT on the view (as the current role). Errors: those of
// query::parse_select and check_leaf; 42804 for other columns; 42501.
query::Leaf *check_ask(const Ask &ask);
// Checks an ask like check_ask, in the asker's process, before a keeper gets it. Evaluates constants that may take long, as the
// current user. Writes their values into the text, or into parameters where it would be too long. Errors: also the constants'.
query::Leaf *check_own_ask(Ask *ask);
// The leaf under the settings and the policy that are committed now, for the current role. Reads no private row. Errors:
// those of rows::prepare, catalog::policy_of, terms_of; 55000 when the asker has changed settings and not committed it.
// drawn: it was charged already, and is answered by a draw.
Resolved resolve(const Ask &ask, query::Leaf *leaf, bool drawn);

} // namespace dp::release
