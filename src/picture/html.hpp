// Makes ASCII for a document that is HTML and well-formed XML at once. What it is given is text and never markup: `& < > " '` are
// escaped, and characters that nobody sees, or that move others, are shown by their code points (U+202E).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dp::picture {

// Where a text goes: between tags, where what is shown by code point is an element of its own; with its line breaks and tabs;
// or where no element can be (attributes, titles).
enum class Place { text, lines, plain };

// UTF-8; a byte that is none is shown as 0xE9.
std::string escaped(std::string_view text, Place place);

// At most so many characters, and then an ellipsis. A character that is shown by its code point counts as many as that has.
std::string cut(std::string_view text, std::size_t characters);

// ---- numbers as text ----
std::string shown(double value, int digits = 4); // so many significant ones
std::string exact(double value);                 // the fewest digits from which the same number is read again

} // namespace dp::picture
