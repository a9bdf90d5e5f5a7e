#include "sfumato/report/html_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sfumato/report/confidence.hpp"
#include "sfumato/report/html_table.hpp"
#include "sfumato/report/html_text.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/typeset.hpp"

namespace sfumato {
namespace {

constexpr std::string_view kNoDrawingCode =
    "This figure is not drawn: the program was built without Node.js. Its numbers are in the JSON "
    "file beside this page.";
constexpr std::string_view kNoScripts =
    "This figure is drawn by a script, and scripts are off. Its numbers are in the JSON file "
    "beside "
    "this page.";

std::string axis_text(const Axis& axis) {
  std::string text = typeset_html(axis.title);
  if (!axis.unit.empty()) text += fmt::format(" ({})", html_text(axis.unit));
  if (axis.scale == Scale::log) text += ", log scale";
  return text;
}

/// "0.12 to 3.4", over the finite numbers.
std::string range_text(const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return values.empty() ? "no values" : "no finite value";
  return low == high ? format_number(low) : format_number(low) + " to " + format_number(high);
}

std::string series_html(const Figure& figure, const Series& series) {
  const std::vector<double>& values = series.z.empty() ? series.y : series.z;
  const Mark mark = figure.mark_of(series);
  const char* unit = mark == Mark::bars      ? "bin"
                     : mark == Mark::columns ? "column"
                     : mark == Mark::image   ? "pixel"
                                             : "point";
  std::string html =
      fmt::format(R"(<li data-series="{}" data-title="{}">)"
                  R"(<span class="swatch" aria-hidden="true"></span>{} )"
                  R"(<span class="name">{}</span> <span class="extent">{} {}{}, {}</span>)",
                  html_text(series.key), html_escaped(typeset_text(series.title)),
                  html_claim(series.claim), typeset_html(series.title), values.size(), unit,
                  values.size() == 1 ? "" : "s", range_text(values));
  std::string method = typeset_html(series.method);
  for (const std::string& assumption : series.assumptions) {
    method += (method.empty() ? "assumes: " : "; assumes: ") + typeset_html(assumption);
  }
  if (series.confidence) {
    method += fmt::format("{}confidence {}", method.empty() ? "" : "; ",
                          format_confidence(*series.confidence));
  }
  if (!method.empty()) html += fmt::format(R"( <span class="method">{}</span>)", method);
  return html + "</li>\n";
}

}  // namespace

bool is_wide(const Figure& figure) {
  if (figure.layout() == Layout::multiples) return figure.series().size() > 2;
  const auto& all = figure.series();
  return std::count_if(all.begin(), all.end(), [&](const Series& series) {
           const Mark mark = figure.mark_of(series);
           return mark == Mark::plane || mark == Mark::image;
         }) > 1;
}

std::string html_figure(const Figure& figure, std::string_view id, std::string_view number,
                        std::string_view path, bool can_draw) {
  std::string html = fmt::format(
      R"(<figure class="figure-block{}" id="{}" data-key="{}" data-figure="{}" data-title="{}" )"
      R"(data-number="{}" data-x="{}" data-y="{}"{}>)"
      "\n"
      R"(<figcaption id="{}-caption"><span class="label">Figure {}.</span> {}.)",
      is_wide(figure) ? " wide" : "", id, html_text(figure.key()), path,
      html_escaped(typeset_text(figure.title())), number,
      html_escaped(typeset_text(figure.x().title)), html_escaped(typeset_text(figure.y().title)),
      figure.z() ? fmt::format(R"( data-z="{}")", html_escaped(typeset_text(figure.z()->title)))
                 : "",
      id, number, typeset_html(figure.title()));
  if (!figure.caption().empty()) {
    html += fmt::format(R"( <span class="caption-text">{}</span>)", typeset_html(figure.caption()));
  }
  html += "</figcaption>\n";
  html += can_draw ? fmt::format(R"(<div class="plot"><noscript>{}</noscript></div>)", kNoScripts)
                   : fmt::format(R"(<div class="plot missing">{}</div>)", kNoDrawingCode);
  html += "\n";
  html += figure.mark() == Mark::columns  // which lie
              ? fmt::format(R"(<p class="axes">Bars: {}. Length: {}.)", axis_text(figure.x()),
                            axis_text(figure.y()))
              : fmt::format(R"(<p class="axes">Horizontal: {}. Vertical: {}.)",
                            axis_text(figure.x()), axis_text(figure.y()));
  if (figure.z()) html += fmt::format(" Colour: {}.", axis_text(*figure.z()));
  html += "</p>\n<ul class=\"series\">\n";
  for (const Series& series : figure.series()) html += series_html(figure, series);
  if (figure.series().empty()) html += "<li>No values.</li>\n";
  return html + "</ul>\n</figure>\n";
}

}  // namespace sfumato
