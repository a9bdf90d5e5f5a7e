#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sfumato/core/claim.hpp"
#include "sfumato/report/sentence.hpp"

namespace sfumato {

enum class Scale { linear, log };

struct Axis {
  std::string title;
  std::string unit = {};
  Scale scale = Scale::linear;
  std::vector<std::string> categories = {};  ///< names that the numbers 0, 1, ... stand for
  /// Where the axis begins and ends, if not where the numbers do: a rate goes from 1/(2n) to 1.
  std::optional<double> from = {};
  std::optional<double> to = {};
};

/// How a figure's series are drawn, and what their vectors hold.
enum class Mark {
  line,     ///< points (x, y), joined
  steps,    ///< points (x, y), joined by steps: y holds until the next x
  region,   ///< points (x, y), joined; what is below is allowed, and shaded
  points,   ///< points (x, y)
  bars,     ///< a histogram: n + 1 rising bin edges in x, n counts or heights in y
  columns,  ///< heights y over the categories x of the x axis
  plane,    ///< points (x, y) with a value z, drawn as contours; a panel per series
  image,    ///< pixels: column x and row y, counted from the top left, with a value z
};

/// How the series of a figure share it.
enum class Layout {
  together,   ///< all in one panel
  multiples,  ///< a panel for each series but the first, which stands behind it in grey
};

/// From where to where numbers may be, one interval per point: [low[i], high[i]].
struct Intervals {
  std::vector<double> low;
  std::vector<double> high;
};

/// One set of numbers of a figure, all with the same claim (which is about y, or z of a plane).
struct Series {
  std::string key;    ///< stable name for programs
  std::string title;  ///< for the legend
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z = {};  ///< of a plane or an image; points on a plane may have it
  Claim claim = Claim::exact;
  std::string method = {};
  std::vector<std::string> assumptions = {};
  std::optional<double> confidence = {};
  std::optional<Mark> mark = {};  ///< points in a figure of lines or planes, lines in one of points
  std::optional<Intervals> x_intervals = {};  ///< of lines, points and columns
  std::optional<Intervals> y_intervals = {};
  std::vector<std::string> labels = {};  ///< what a point is ("row 17"); one each, or none
};

/// The data of a figure; renderers draw it, save it or say what it holds.
class Figure {
 public:
  Figure(std::string key, std::string title, Mark mark, Axis x, Axis y,
         std::optional<Axis> z = std::nullopt);

  /// Throws   InternalError if the lengths do not fit the mark, the key is empty or taken, a number
  ///          is NaN, the edges of bars do not rise, a category does not exist, an interval is empty,
  ///          or the mark of the series cannot be drawn into this figure.
  void add(Series series);
  /// One or two sentences below the figure, with their stops: what it shows.
  void set_caption(Text caption) { caption_ = std::move(caption); }
  /// Throws   InternalError for small multiples of anything but lines and points.
  void set_layout(Layout layout);

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] Mark mark() const { return mark_; }
  [[nodiscard]] const Axis& x() const { return x_; }
  [[nodiscard]] const Axis& y() const { return y_; }
  [[nodiscard]] const std::optional<Axis>& z() const { return z_; }
  [[nodiscard]] const std::vector<Series>& series() const { return series_; }
  [[nodiscard]] const Text& caption() const { return caption_; }
  [[nodiscard]] Layout layout() const { return layout_; }
  [[nodiscard]] Mark mark_of(const Series& series) const { return series.mark.value_or(mark_); }

 private:
  std::string key_;
  std::string title_;
  Mark mark_;
  Axis x_, y_;
  std::optional<Axis> z_;
  std::vector<Series> series_;
  Text caption_;
  Layout layout_ = Layout::together;
};

/// "line", "points", ...: how JSON names a mark.
[[nodiscard]] std::string_view name(Mark mark);

}  // namespace sfumato
