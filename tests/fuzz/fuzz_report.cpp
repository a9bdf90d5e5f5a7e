#include <algorithm>
#include <cctype>
#include <string>

#include "fuzz_main.hpp"
#include "sfumato/report/html.hpp"
#include "sfumato/report/report.hpp"
#include "sfumato/report/text.hpp"
#include "sfumato/report/web_assets.hpp"

using namespace sfumato;

namespace sfumato {

/// In the place of web/, whose hundreds of kilobytes would be hashed for every page.
const WebAssets& web_assets() {
  static constexpr WebAssets kAssets{"a{}", "let page", "let figures"};
  return kAssets;
}

}  // namespace sfumato

namespace {

/// Goes through the tags of a page as a browser does, and stops at what only a browser would obey.
class Page {
 public:
  explicit Page(std::string text) : text_(std::move(text)) {
    std::transform(text_.begin(), text_.end(), text_.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }

  /// The number of script elements.
  int scripts() {
    while ((at_ = text_.find('<', at_)) != std::string::npos) {
      ++at_;
      if (text_.compare(at_, 1, "/") == 0 || text_.compare(at_, 1, "!") == 0) continue;
      element();
    }
    return scripts_;
  }

 private:
  void element() {
    const std::string name = word();
    if (name.empty()) __builtin_trap();  // a < that is not a tag was not escaped
    for (const char* foreign : {"iframe", "object", "embed", "img", "link", "base", "form"}) {
      if (name == foreign) __builtin_trap();
    }
    while (at_ < text_.size() && text_[at_] != '>') attribute();
    if (name == "script" || name == "style") {  // a browser looks for nothing else in them
      scripts_ += name == "script";
      at_ = text_.find("</" + name, at_);
      if (at_ == std::string::npos) __builtin_trap();
    }
  }

  void attribute() {
    if (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '/') {
      ++at_;
      return;
    }
    const std::string name = word();
    if (name.empty() || name.starts_with("on") || name == "src" || name == "srcdoc")
      __builtin_trap();
    if (text_.compare(at_, 1, "=") != 0) return;
    if (text_.compare(at_, 2, "=\"") != 0) __builtin_trap();  // every value is in quotes
    const std::size_t begin = at_ + 2, end = text_.find('"', begin);
    if (end == std::string::npos) __builtin_trap();
    if (name == "href" && text_[begin] != '#') __builtin_trap();
    at_ = end + 1;
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == ':' || text_[at_] == '_')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::string text_;
  std::size_t at_ = 0;
  int scripts_ = 0;
};

}  // namespace

/// A report that is read is written again byte for byte, prints, and makes a page that runs nothing but
/// the page's own scripts: its data, page.js and the figures.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz(data, size, [](std::string_view bytes) {
    const Report report = read_report(bytes, "f.json");
    const std::string json = report_json(report);
    if (report_json(read_report(json, "g.json")) != json) __builtin_trap();
    for (const Document& chapter : report.chapters) (void)render_text(chapter);
    if (Page(html_report(report)).scripts() != 3) __builtin_trap();
  });
}
