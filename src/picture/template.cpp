#include "picture/template.hpp"

#include <stdexcept>

#include "picture/html.hpp"

namespace dp::picture {

namespace {
struct Tag {
    std::size_t begin, end; // in the page, with its braces; npos: there is none any more
    char kind;              // ' ' for a text
    std::string name;
};

class Filler {
  public:
    void fill(std::string_view page);
    void enter(const Data &data) { scopes_.push_back(&data); }
    void leave() { scopes_.pop_back(); }
    std::string made;

  private:
    void put(const Tag &tag);
    void repeat(const Tag &tag, std::string_view inside);
    const Data *owner_of(const std::string &name) const;
    const std::string &text_of(const std::string &name) const;
    bool is_empty(const std::string &name) const;
    std::vector<const Data *> scopes_;
};
} // namespace

static Tag tag_from(std::string_view page, std::size_t at) {
    const std::size_t begin = page.find("{{", at);
    if (begin == page.npos)
        return {begin, begin, ' ', ""};
    const std::size_t end = page.find("}}", begin);
    std::string name(page.substr(begin + 2, end - begin - 2));
    const char kind = std::string_view(".~|&#?^/").find(name[0]) == std::string_view::npos ? ' ' : name[0];
    if (kind != ' ')
        name.erase(0, 1);
    return {begin, end + 2, kind, name};
}

static bool is_block(const Tag &tag) { return tag.kind == '#' || tag.kind == '?' || tag.kind == '^'; }

// Finds the tag that ends a block. One of the same name may stand inside.
static Tag closing(std::string_view page, const Tag &opening) {
    int open = 1;
    for (Tag tag = tag_from(page, opening.end); tag.begin != page.npos; tag = tag_from(page, tag.end)) {
        if (tag.name == opening.name)
            open += is_block(tag) ? 1 : tag.kind == '/' ? -1 : 0;
        if (open == 0)
            return tag;
    }
    throw std::logic_error("a block of the page has no end");
}

const Data *Filler::owner_of(const std::string &name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
        if ((*scope)->lists.count(name) + (*scope)->texts.count(name) > 0)
            return *scope;
    return nullptr;
}

const std::string &Filler::text_of(const std::string &name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        const auto found = (*scope)->texts.find(name);
        if (found != (*scope)->texts.end())
            return found->second;
    }
    throw std::logic_error("the page lacks " + name);
}

bool Filler::is_empty(const std::string &name) const {
    const Data *owner = owner_of(name);
    if (owner == nullptr)
        return true;
    const auto list = owner->lists.find(name);
    return list != owner->lists.end() ? list->second.empty() : owner->texts.at(name).empty();
}

void Filler::put(const Tag &tag) {
    const std::string &text = text_of(tag.name);
    const std::size_t edge = made.find_last_of("<>");
    const bool in_tag = edge != made.npos && made[edge] == '<';
    if (tag.kind == '&' && text.find_first_of("<&") != text.npos)
        throw std::logic_error("a style or script must do without < and &");
    if (tag.kind == '&')
        made += text;
    else if (tag.kind == '~' || tag.kind == '|')
        made += "<bdi>" + escaped(text, tag.kind == '|' ? Place::lines : Place::text) + "</bdi>";
    else
        made += escaped(text, tag.kind == '.' || in_tag ? Place::plain : Place::text);
}

void Filler::repeat(const Tag &tag, std::string_view inside) {
    if (tag.kind != '#') {
        if (is_empty(tag.name) == (tag.kind == '^'))
            fill(inside);
        return;
    }
    const Data *owner = owner_of(tag.name);
    if (owner == nullptr || owner->lists.count(tag.name) == 0)
        return;
    for (const Data &item : owner->lists.at(tag.name)) {
        enter(item);
        fill(inside);
        leave();
    }
}

void Filler::fill(std::string_view page) {
    std::size_t at = 0;
    for (Tag tag = tag_from(page, 0); tag.begin != page.npos; tag = tag_from(page, at)) {
        made += page.substr(at, tag.begin - at);
        at = tag.end;
        if (!is_block(tag)) {
            put(tag);
            continue;
        }
        const Tag end = closing(page, tag);
        repeat(tag, page.substr(at, end.begin - at));
        at = end.end;
    }
    made += page.substr(at);
}

std::string filled(std::string_view page, const Data &data) {
    Filler filler;
    filler.enter(data);
    filler.fill(page);
    return std::move(filler.made);
}

} // namespace dp::picture
