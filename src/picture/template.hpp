// Fills a page with texts. `{{` and `}}` enclose names of the template:
//
//   {{name}}                  a text; in a tag, without elements
//   {{.name}}                 without elements, as a title has to be
//   {{~name}}                 written by somebody else: its direction ends with it
//   {{|name}}                 written by somebody else, with its line breaks
//   {{&name}}                 a style or a script of the program's own
//   {{#name}} ... {{/name}}   for each item of a list
//   {{?name}} ... {{/name}}   once, if the list or the text is not empty
//   {{^name}} ... {{/name}}   once, if it is
//
// Names that an item does not have are looked for in the items around it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dp::picture {

struct Data {
    std::map<std::string, std::string> texts;
    std::map<std::string, std::vector<Data>> lists;
};

// Errors: std::logic_error for a text that is missing, and for a style or a script with `<` or `&`.
std::string filled(std::string_view page, const Data &data);

} // namespace dp::picture
