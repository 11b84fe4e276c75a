// A question as it arrives: a leaf's text, and what it is asked for.
#pragma once

#include "release/facts.hpp"

namespace dp::release {

struct Wish;

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

} // namespace dp::release
