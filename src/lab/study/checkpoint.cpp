#include "lab/study/checkpoint.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sfumato/data/checksum.hpp"
#include "sfumato/data/npy.hpp"
#include "sfumato/data/npz.hpp"

namespace sfumato::lab {
namespace {

// Every number is a double in the file: floats and counts below 2^53 keep their value. Arrays cannot
// be empty, so what is empty is left out.

/// Of what a checkpoint means; in the first, which did not say so, the records of a study counted from 0.
constexpr double kFormat = 2.0;

/// The columns of `numbers`, one row per model.
enum Number : Eigen::Index {
  kPolicy,
  kWorld,
  kDivergedAt,  ///< -1: did not
  kPathKl,
  kDifferingSteps,
  kInfiniteSteps,
  kFirstInfiniteStep,  ///< -1: none
  kFirstInfiniteCount,
  kNumbers
};

Eigen::MatrixXd matrix_of(const std::vector<std::vector<double>>& rows) {
  Eigen::MatrixXd matrix(std::ssize(rows), rows.empty() ? 0 : std::ssize(rows[0]));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    matrix.row(static_cast<Eigen::Index>(i)) =
        Eigen::Map<const Eigen::RowVectorXd>(rows[i].data(), std::ssize(rows[i]));
  }
  return matrix;
}

/// Of names, shapes and values of all arrays but the digest itself.
std::string digest_of_arrays(const Arrays& arrays) {
  std::string text;
  for (const auto& [name, array] : arrays) {
    if (name == "digest") continue;
    const auto* bytes = reinterpret_cast<const char*>(array.values.data());
    const auto size = static_cast<std::size_t>(array.values.size()) * sizeof(double);
    text += fmt::format("{} {} {}\n", name, shape_text(array), sha256({bytes, size}));
  }
  return sha256(text);
}

Array text_array(const std::string& text) {
  Eigen::VectorXd codes(std::ssize(text));
  for (std::size_t i = 0; i < text.size(); ++i) {
    codes[static_cast<Eigen::Index>(i)] = static_cast<unsigned char>(text[i]);
  }
  return vector_array(codes);
}

class Reader {
 public:
  Reader(Arrays arrays, std::string path) : arrays_(std::move(arrays)), path_(std::move(path)) {}

  [[noreturn]] void refuse(const std::string& problem) const {
    throw InvalidArgument(fmt::format("this is not a checkpoint: {}", problem),
                          "Name a checkpoint.npz that `sfumato train` wrote", Where::in(path_));
  }
  /// That the arrays are those that were written. Everything else that a checkpoint can be wrong in, a
  /// bit that changed included, is then what somebody made.
  void require_digest() const {
    const char* remedy = "Remove it and train from the start";
    if (find("digest") == nullptr || find("format") == nullptr) {
      throw InvalidArgument("an earlier version of sfumato wrote it", remedy, Where::in(path_));
    }
    if (text("digest") != digest_of_arrays(arrays_)) {
      throw InvalidArgument("is damaged: its digest is that of other content", remedy,
                            Where::in(path_));
    }
    if (matrix("format", 1, 1)(0, 0) != kFormat) {
      throw InvalidArgument("a later version of sfumato wrote it", remedy, Where::in(path_));
    }
  }
  [[nodiscard]] const Array* find(const std::string& name) const {
    const auto found = arrays_.find(name);
    return found == arrays_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Eigen::MatrixXd& matrix(const std::string& name, Eigen::Index rows,
                                              Eigen::Index cols) const {
    const Array* array = find(name);
    if (array == nullptr) refuse(fmt::format("`{}` is missing", name));
    const bool fits =
        (rows < 0 || array->values.rows() == rows) && (cols < 0 || array->values.cols() == cols);
    if (!fits) refuse(fmt::format("`{}` has the shape {}", name, shape_text(*array)));
    return array->values;
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    const Array* array = find(name);
    if (array == nullptr) refuse(fmt::format("`{}` is missing", name));
    return text_of(*array, path_);
  }
  /// A number that is 0 or more; infinite at most where `may_be_infinite`.
  [[nodiscard]] double amount(double value, bool may_be_infinite) const {
    if (!(value >= 0.0) || (std::isinf(value) && !may_be_infinite)) {
      refuse(fmt::format("{} is not an amount", value));
    }
    return value;
  }
  [[nodiscard]] std::uint64_t count(double value) const {
    if (!(value >= 0.0 && value <= 0x1p53 && value == std::floor(value))) {
      refuse(fmt::format("{} is not a count", value));
    }
    return static_cast<std::uint64_t>(value);
  }

 private:
  Arrays arrays_;
  std::string path_;
};

/// What only some ways of training have to remember: an array for each model that has any.
template <class Number>
void add_by_model(const char* name, const std::vector<std::vector<Number>>& by_model,
                  Arrays& arrays) {
  for (std::size_t m = 0; m < by_model.size(); ++m) {
    if (by_model[m].empty()) continue;
    const std::vector<double> row(by_model[m].begin(), by_model[m].end());
    arrays.emplace(fmt::format("{}_{}", name, m), matrix_array(matrix_of({row})));
  }
}

template <class Number>
void read_by_model(const Reader& reader, const char* name, std::size_t models,
                   std::vector<std::vector<Number>>& by_model) {
  by_model.resize(models);
  for (std::size_t m = 0; m < models; ++m) {
    const std::string key = fmt::format("{}_{}", name, m);
    if (reader.find(key) == nullptr) continue;
    const Eigen::MatrixXd& row = reader.matrix(key, 1, -1);
    for (Eigen::Index i = 0; i < row.cols(); ++i) {
      by_model[m].push_back(static_cast<Number>(row(0, i)));
    }
  }
}

void add_optional(const GroupState& state, Arrays& arrays) {
  add_by_model("velocity", state.velocities, arrays);
  add_by_model("average", state.averages, arrays);
  add_by_model("moments", state.moments, arrays);
  std::vector<std::vector<double>> zeroed;
  for (const ModelRecord& record : state.models) {
    std::vector<double>& row = zeroed.emplace_back();
    row.push_back(static_cast<double>(record.zeroed_records));
    row.insert(row.end(), record.canary_scores.begin(), record.canary_scores.end());
  }
  if (!zeroed.empty()) arrays.emplace("clipped", matrix_array(matrix_of(zeroed)));
}

void read_optional(const Reader& reader, GroupState& state) {
  const std::size_t models = state.models.size();
  read_by_model(reader, "velocity", models, state.velocities);
  read_by_model(reader, "average", models, state.averages);
  read_by_model(reader, "moments", models, state.moments);
  if (reader.find("clipped") == nullptr) return;
  const Eigen::MatrixXd& zeroed = reader.matrix("clipped", static_cast<Eigen::Index>(models), -1);
  for (std::size_t m = 0; m < models; ++m) {
    const auto row = static_cast<Eigen::Index>(m);
    if (zeroed.cols() == 0) reader.refuse("`clipped` is empty");
    state.models[m].zeroed_records = reader.count(zeroed(row, 0));
    for (Eigen::Index k = 1; k < zeroed.cols(); ++k) {
      state.models[m].canary_scores.push_back(zeroed(row, k));
    }
  }
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  std::vector<std::vector<double>> numbers, parameters, losses, infinite, squares;
  const GroupState& state = checkpoint.state;
  for (std::size_t m = 0; m < state.models.size(); ++m) {
    const ModelRecord& record = state.models[m];
    const auto model = static_cast<double>(m);
    const PathKlSum& path_kl = record.path_kl;
    const auto& first = path_kl.first_infinite;
    numbers.push_back({static_cast<double>(record.policy), static_cast<double>(record.world),
                       record.diverged_at ? static_cast<double>(*record.diverged_at) : -1.0,
                       path_kl.nats, static_cast<double>(path_kl.steps),
                       static_cast<double>(path_kl.infinite_steps),
                       first ? static_cast<double>(first->step) : -1.0,
                       first ? static_cast<double>(first->count) : 0.0});
    if (first) {
      for (const std::size_t index : first->first_coordinates) {
        infinite.push_back({model, static_cast<double>(index)});
      }
    }
    parameters.emplace_back(state.parameters[m].begin(), state.parameters[m].end());
    for (const LoggedLoss& logged : record.losses) {
      losses.push_back({model, static_cast<double>(logged.step), logged.loss});
    }
    if (!record.squared_differences.empty()) squares.push_back(record.squared_differences);
  }
  Arrays arrays;
  arrays.emplace("format", scalar_array(kFormat));
  arrays.emplace("seconds", scalar_array(checkpoint.seconds));
  arrays.emplace("step", scalar_array(static_cast<double>(state.step)));
  arrays.emplace("numbers", matrix_array(matrix_of(numbers)));
  arrays.emplace("parameters", matrix_array(matrix_of(parameters)));
  if (!losses.empty()) arrays.emplace("losses", matrix_array(matrix_of(losses)));
  if (!infinite.empty()) arrays.emplace("infinite_parameters", matrix_array(matrix_of(infinite)));
  if (!squares.empty()) arrays.emplace("squared_differences", matrix_array(matrix_of(squares)));
  add_optional(state, arrays);
  NpzWriter writer;
  for (const auto& [name, array] : arrays) writer.add(name, array);
  writer.add_text("study", checkpoint.study);
  writer.add_text("instruction_set", checkpoint.instruction_set);
  arrays.emplace("study", text_array(checkpoint.study));
  arrays.emplace("instruction_set", text_array(checkpoint.instruction_set));
  writer.add_text("digest", digest_of_arrays(arrays));
  writer.write(path, Compression::stored);
}

Checkpoint read_checkpoint(const std::string& path) {
  const Reader reader(read_npz(path), path);
  if (reader.find("study") == nullptr) reader.refuse("`study` is missing");
  reader.require_digest();
  Checkpoint checkpoint;
  checkpoint.study = reader.text("study");
  checkpoint.instruction_set = reader.text("instruction_set");
  checkpoint.seconds = reader.amount(reader.matrix("seconds", 1, 1)(0, 0), false);
  GroupState& state = checkpoint.state;
  state.step = reader.count(reader.matrix("step", 1, 1)(0, 0));
  const Eigen::MatrixXd& numbers = reader.matrix("numbers", -1, kNumbers);
  const Eigen::Index models = numbers.rows();
  const Eigen::MatrixXd& parameters = reader.matrix("parameters", models, -1);
  for (Eigen::Index m = 0; m < models; ++m) {
    ModelRecord record;
    record.policy = reader.count(numbers(m, kPolicy));
    record.world = reader.count(numbers(m, kWorld));
    if (numbers(m, kDivergedAt) >= 0.0) record.diverged_at = reader.count(numbers(m, kDivergedAt));
    record.path_kl.nats = reader.amount(numbers(m, kPathKl), true);
    record.path_kl.steps = reader.count(numbers(m, kDifferingSteps));
    record.path_kl.infinite_steps = reader.count(numbers(m, kInfiniteSteps));
    if (numbers(m, kFirstInfiniteStep) >= 0.0) {
      record.path_kl.first_infinite = {reader.count(numbers(m, kFirstInfiniteStep)),
                                       reader.count(numbers(m, kFirstInfiniteCount)),
                                       {}};
    }
    if (!record.diverged_at && !parameters.row(m).allFinite()) {
      reader.refuse(fmt::format("model {} has parameters that are no finite numbers", m));
    }
    state.models.push_back(std::move(record));
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(parameters.cols()));
    for (Eigen::Index i = 0; i < parameters.cols(); ++i) {
      values.push_back(static_cast<float>(parameters(m, i)));
    }
    state.parameters.push_back(std::move(values));
  }
  const auto model_of = [&](double number) -> ModelRecord& {
    const std::uint64_t model = reader.count(number);
    if (model >= state.models.size()) reader.refuse(fmt::format("there is no model {}", model));
    return state.models[model];
  };
  if (reader.find("losses") != nullptr) {
    const Eigen::MatrixXd& losses = reader.matrix("losses", -1, 3);
    for (Eigen::Index i = 0; i < losses.rows(); ++i) {
      model_of(losses(i, 0)).losses.push_back({reader.count(losses(i, 1)), losses(i, 2)});
    }
  }
  if (reader.find("infinite_parameters") != nullptr) {
    const Eigen::MatrixXd& infinite = reader.matrix("infinite_parameters", -1, 2);
    for (Eigen::Index i = 0; i < infinite.rows(); ++i) {
      auto& first = model_of(infinite(i, 0)).path_kl.first_infinite;
      if (!first) reader.refuse("it names parameters of a step that was not infinite");
      first->first_coordinates.push_back(reader.count(infinite(i, 1)));
    }
  }
  if (reader.find("squared_differences") != nullptr) {
    const Eigen::MatrixXd& squares =
        reader.matrix("squared_differences", models, parameters.cols());
    for (Eigen::Index m = 0; m < models; ++m) {
      std::vector<double>& values = state.models[static_cast<std::size_t>(m)].squared_differences;
      for (Eigen::Index i = 0; i < squares.cols(); ++i) {
        values.push_back(reader.amount(squares(m, i), true));
      }
    }
  }
  read_optional(reader, state);
  return checkpoint;
}

}  // namespace sfumato::lab
