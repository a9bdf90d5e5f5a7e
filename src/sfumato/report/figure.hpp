#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sfumato/core/claim.hpp"

namespace sfumato {

enum class Scale { linear, log };

struct Axis {
  std::string title;
  std::string unit = {};
  Scale scale = Scale::linear;
};

/// How a figure's series are drawn, and what their vectors hold.
enum class Mark {
  line,    ///< points (x, y), joined
  points,  ///< points (x, y)
  bars,    ///< a histogram: n + 1 rising bin edges in x, n counts or heights in y
  plane,   ///< points (x, y) with a value z
};

/// One set of numbers of a figure, all with the same claim (which is about y, or z of a plane).
struct Series {
  std::string key;    ///< stable name for programs
  std::string title;  ///< for the legend
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> z = {};  ///< of a plane only
  Claim claim = Claim::exact;
  std::string method = {};
  std::vector<std::string> assumptions = {};
  std::optional<double> confidence = {};
};

/// The data of a figure; renderers draw it, save it or say what it holds.
class Figure {
 public:
  Figure(std::string key, std::string title, Mark mark, Axis x, Axis y,
         std::optional<Axis> z = std::nullopt);

  /// Throws   InternalError if the lengths do not fit the mark, the key is empty or taken, a number
  ///          is NaN, or the edges of bars do not rise.
  void add(Series series);

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] Mark mark() const { return mark_; }
  [[nodiscard]] const Axis& x() const { return x_; }
  [[nodiscard]] const Axis& y() const { return y_; }
  [[nodiscard]] const std::optional<Axis>& z() const { return z_; }
  [[nodiscard]] const std::vector<Series>& series() const { return series_; }

 private:
  std::string key_;
  std::string title_;
  Mark mark_;
  Axis x_, y_;
  std::optional<Axis> z_;
  std::vector<Series> series_;
};

}  // namespace sfumato
