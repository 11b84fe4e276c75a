// A document that is HTML and well-formed XML at once, in ASCII. Whatever it is given is text and never markup: `& < > " '`
// are escaped, and characters that nobody sees, or that move others, are shown by their code points (U+202E).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace dp::picture {

// Where a text goes: between tags, where what is shown by code point is an element of its own; with its line breaks and tabs;
// or where no element can be (attributes, titles).
enum class Place { text, lines, plain };

// UTF-8; a byte that is none is shown as 0xE9.
std::string escaped(std::string_view text, Place place);

// At most so many characters, and then an ellipsis. A character that is shown by its code point counts as many as that has.
std::string cut(std::string_view text, std::size_t characters);

struct Attribute {
    const char *name;
    std::string value;
};

// Names of elements and attributes are the program's own.
class Html {
  public:
    using Attributes = std::initializer_list<Attribute>;
    Html();
    Html &open(const char *element, Attributes attributes = {});
    Html &close(); // the innermost element that is open
    Html &empty(const char *element, Attributes attributes = {}); // <meta/>: one that HTML closes by itself
    Html &text(std::string_view text, Place place = Place::text);
    // <element>text</element>
    Html &put(const char *element, std::string_view text) { return put(element, {}, text); }
    Html &put(const char *element, Attributes attributes, std::string_view text, Place place = Place::text);
    // What somebody else has written: its direction ends with it.
    Html &foreign(std::string_view text, Place place = Place::text);
    // A style or a script of the program's own, which has to be free of `<` and `&` (std::logic_error).
    Html &source(const char *element, std::string_view source);
    std::string finish(); // closes what is open

  private:
    void tag(const char *element, Attributes attributes, const char *end);
    std::string made_;
    std::vector<const char *> open_;
};

// ---- numbers as text ----
std::string shown(double value, int digits = 4); // so many significant ones
std::string exact(double value);                 // the fewest digits from which the same number is read again

} // namespace dp::picture
