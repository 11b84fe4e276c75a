// Which question it is: what a key of stored answers, and of what was permitted, are hashes of.
#pragma once

#include "rows/question.hpp"

namespace dp::release {

// Identifies what a question was resolved to: its plan, without the names of views, and what follows from declarations.
struct Identity {
    Datum hash;       // a SHA-256 as bytea
    const int *order; // of a group's coordinates, whichever way the question lists its aggregates
};
// Identifies a question whose mechanism is set. The noise and the price are no part of it.
Identity identity_of(const rows::Question *question);
// Returns it as text: of names and texts that mean the same after a dump.
const char *hash_of_declarations(const rows::Question *question);
void add_identity(StringInfo bytes, Datum hash);
Datum sha256_of(const StringInfoData &bytes);

// Returns which versions of settings and policies a question rests on (catalog::read_settings, policy_of), as one text.
const char *versions_of(const catalog::Settings &settings);
// Hashes these, what was looked up in public tables, and what the question was resolved to: to be compared later.
uint64 versions_hash(const rows::Question *question);

// Adds a piece with its name and its length: no two lists of pieces are one text.
void add_piece(StringInfo text, const char *name, const char *piece);
void add_number(StringInfo text, const char *name, int64 number);

} // namespace dp::release
