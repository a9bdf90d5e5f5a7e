#include "sfumato/data/covariance_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "sfumato/core/error.hpp"
#include "sfumato/core/overloaded.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/npz.hpp"
#include "sfumato/data/text.hpp"

namespace sfumato {
namespace {

using nlohmann::json;

constexpr std::string_view kCovariance = "the covariance";

const char* form_of(const Covariance& covariance) {
  return std::visit(
      Overloaded{[](const Isotropic&) { return "isotropic"; },
                 [](const Diagonal&) { return "diagonal"; },
                 [](const Factored&) { return "factored"; }, [](const Dense&) { return "dense"; }},
      covariance);
}

/// The arrays of the form that an archive's names spell, or the error that they spell none.
std::vector<std::string> form_of(const ArrayShapes& shapes, const Where& where) {
  const std::vector<std::vector<std::string>> forms = {
      {"variance", "dim"}, {"variances"}, {"diagonal", "factor"}, {"matrix"}};
  const std::size_t present = shapes.size() - shapes.count("meta");
  for (const auto& form : forms) {
    std::size_t found = 0;
    for (const std::string& name : form) found += shapes.count(name);
    if (found == form.size() && found == present) return form;
  }
  constexpr std::size_t kListed = 12;
  std::string names;
  for (std::size_t i = 0; const auto& [name, shape] : shapes) {
    if (i++ == kListed) break;
    names += (names.empty() ? "" : ", ") + shown(name);
  }
  if (shapes.size() > kListed) names += fmt::format(" and {} more", shapes.size() - kListed);
  throw InvalidArgument(
      fmt::format("holds the arrays {}, which are no form of a covariance", names),
      "Give `variance` and `dim`, `variances`, `diagonal` and `factor`, or `matrix`", where);
}

[[noreturn]] void refuse_dimension(std::uint64_t found, Eigen::Index expected, const Where& where) {
  throw InvalidArgument(
      fmt::format("{} has dimension {}, the problem has {}", kCovariance, found, expected),
      "Give one variance per parameter", where);
}

/// Before anything is decompressed: the names, and the sizes where the dimension is known.
void check_shapes(const ArrayShapes& shapes, Eigen::Index expected, const Where& where) {
  constexpr std::uint64_t kLongestMeta = 1 << 20;
  for (const std::string& name : form_of(shapes, where)) {
    const std::vector<std::uint64_t>& shape = shapes.at(name);
    const bool per_parameter = name != "variance" && name != "dim" && !shape.empty();
    if (expected != 0 && per_parameter && shape[0] != static_cast<std::uint64_t>(expected)) {
      refuse_dimension(shape[0], expected, where);
    }
    if (name == "matrix" && shape.size() == 2 && shape[0] != shape[1]) {
      throw InvalidArgument(fmt::format("`matrix` has {} rows and {} columns", shape[0], shape[1]),
                            "Give a square matrix", where);
    }
  }
  const auto meta = shapes.find("meta");
  if (meta != shapes.end() && !meta->second.empty() && meta->second[0] > kLongestMeta) {
    throw InvalidArgument(
        fmt::format("`meta` has {} bytes, the limit is {}", meta->second[0], kLongestMeta),
        "Write the file again or leave meta out", where);
  }
}

/// The arrays of one archive, each with the rank that its form asks for.
class ArchiveReader {
 public:
  ArchiveReader(const std::string& path, Eigen::Index expected)
      : where_(Where::in(path)),
        path_(path),
        arrays_(read_npz(
            path, [&](const ArrayShapes& shapes) { check_shapes(shapes, expected, where_); })) {}

  [[nodiscard]] CovarianceFile read() const { return checked(covariance()); }

 private:
  const Eigen::MatrixXd& values(const std::string& name, int rank) const {
    const Array& array = arrays_.at(name);
    if (array.rank == rank) return array.values;
    constexpr const char* kRanks[] = {"a number", "a vector", "a matrix"};
    throw InvalidArgument(fmt::format("`{}` has shape {}", name, shape_text(array)),
                          fmt::format("Give {}", kRanks[rank]), where_);
  }

  Covariance covariance() const {
    if (arrays_.contains("variance")) {
      const double dim = values("dim", 0)(0, 0);
      // 2^53: the largest count that a double is sure to hold.
      if (!(dim >= 1.0 && dim <= 0x1p53 && dim == std::floor(dim))) {
        throw InvalidArgument(fmt::format("`dim` = {} is not a dimension", dim),
                              "Give a whole number, 1 or more", where_);
      }
      return Isotropic{values("variance", 0)(0, 0), static_cast<Eigen::Index>(dim)};
    }
    if (arrays_.contains("variances")) return Diagonal{values("variances", 1)};
    if (arrays_.contains("diagonal")) {
      return Factored{values("diagonal", 1), values("factor", 2)};
    }
    return Dense{values("matrix", 2)};
  }

  CovarianceFile checked(Covariance covariance) const {
    CovarianceFile file{require_covariance(kCovariance, std::move(covariance), where_)};
    const auto meta = arrays_.find("meta");
    if (meta == arrays_.end()) return file;
    const json content = json::parse(text_of(meta->second, path_ + "[\"meta\"]"), nullptr,
                                     /*allow_exceptions=*/false);
    if (!content.is_object()) {
      throw InvalidArgument("`meta` is not a JSON object", "Write the file again or leave meta out",
                            where_);
    }
    agree(content, "form", json(form_of(file.covariance)));
    agree(content, "dimension", json(dimension(file.covariance)));
    if (const auto found = content.find("provenance"); found != content.end()) {
      if (!found->is_object()) {
        throw InvalidArgument("`provenance` in `meta` is not an object of texts",
                              "Write the file again or leave meta out", where_);
      }
      for (const auto& [name, value] : found->items()) {
        file.provenance[name] = value.is_string() ? value.get<std::string>() : value.dump();
      }
    }
    return file;
  }

  void agree(const json& meta, const char* key, const json& arrays) const {
    const auto found = meta.find(key);
    if (found != meta.end() && *found == arrays) return;
    const std::string said =
        found == meta.end() ? "no"
                            : shown(found->dump(-1, ' ', true, json::error_handler_t::replace));
    throw InvalidArgument(
        fmt::format("`meta` has {} {}, the arrays have {}", said, key, arrays.dump()),
        "Write the file again: its parts do not belong together", where_);
  }

  Where where_;
  std::string path_;
  Arrays arrays_;
};

Covariance from_array(const Array& array, const std::string& path, Eigen::Index expected) {
  const Where where = Where::in(path);
  if (array.rank == 2) return require_covariance(kCovariance, Dense{array.values}, where);
  if (array.rank == 1) return require_covariance(kCovariance, Diagonal{array.values}, where);
  if (expected == 0) {
    throw InvalidArgument("holds one number, which leaves the dimension open",
                          "Give a vector of variances or a square matrix", where);
  }
  return require_covariance(kCovariance, Isotropic{array.values(0, 0), expected}, where);
}

}  // namespace

CovarianceFile read_covariance(const std::string& path, Eigen::Index expected) {
  const std::string suffix = suffix_of(path);
  if (suffix != ".npz" && suffix != ".npy" && suffix != ".csv") {
    throw InvalidArgument("is not called .npz, .npy or .csv", "Give a covariance in such a file",
                          Where::in(path));
  }
  CovarianceFile file = suffix == ".npz"
                            ? ArchiveReader(path, expected).read()
                            : CovarianceFile{from_array(read_array(path), path, expected)};
  if (expected != 0 && dimension(file.covariance) != expected) {
    refuse_dimension(static_cast<std::uint64_t>(dimension(file.covariance)), expected,
                     Where::in(path));
  }
  return file;
}

void write_covariance(const std::string& path, const CovarianceFile& file,
                      const WriteRules& rules) {
  if (suffix_of(path) != ".npz") {
    throw InvalidArgument("covariances are written as NPZ", "Use the suffix .npz", Where::in(path));
  }
  Covariance covariance = require_covariance(kCovariance, file.covariance);
  if (const auto* factored = std::get_if<Factored>(&covariance);
      factored != nullptr && factored->factor.cols() == 0) {
    covariance =
        Diagonal{Eigen::VectorXd(factored->diagonal)};  // no array without elements in a file
  }
  NpzWriter out;
  std::visit(Overloaded{[&](const Isotropic& c) {
                          out.add("variance", scalar_array(c.variance));
                          out.add("dim", scalar_array(static_cast<double>(c.dimension)));
                        },
                        [&](const Diagonal& c) { out.add("variances", vector_array(c.variances)); },
                        [&](const Factored& c) {
                          out.add("diagonal", vector_array(c.diagonal));
                          out.add("factor", matrix_array(c.factor));
                        },
                        [&](const Dense& c) { out.add("matrix", matrix_array(c.matrix)); }},
             covariance);
  const json meta = {{"form", form_of(covariance)},
                     {"dimension", dimension(covariance)},
                     {"provenance", json(file.provenance)}};
  out.add_text("meta", meta.dump(-1, ' ', true, json::error_handler_t::replace));
  out.write(path, Compression::deflated, rules);
}

}  // namespace sfumato
