// Other servers that are asked at once: for test/batch/peers.py alone.
#include "border/guard.hpp"
#include "border/peers.hpp"

extern "C" {
#include <utils/array.h>
#include <utils/builtins.h>
}

using namespace dp;

// (conninfo text[], question text, milliseconds integer): for each "answers", or why not.
DP_FUNCTION(dp_test_peers) {
    Datum *texts;
    int n;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false, TYPALIGN_INT, &texts, nullptr, &n);
    auto *peers = static_cast<border::Peer *>(palloc0(sizeof(border::Peer) * n));
    for (int i = 0; i < n; i++) {
        peers[i] = border::make_peer("peer");
        border::add_options(&peers[i], TextDatumGetCString(texts[i]));
    }
    border::ask_peers(peers, n, text_to_cstring(PG_GETARG_TEXT_PP(1)), "it", PG_GETARG_INT32(2));
    for (int i = 0; i < n; i++)
        texts[i] = CStringGetTextDatum(peers[i].answers ? "answers" : peers[i].sqlstate[0] != 0 ? peers[i].sqlstate : peers[i].words);
    PG_RETURN_ARRAYTYPE_P(construct_array(texts, n, TEXTOID, -1, false, TYPALIGN_INT));
}
