#include "lab/ledger/trial_bytes.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sfumato/core/error.hpp"
#include "sfumato/data/checksum.hpp"

namespace sfumato::lab {
namespace {

class Packer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof(T));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
  void put_text(const std::string& text) {
    put<std::uint64_t>(text.size());
    bytes += text;
  }
  void put_floats(const std::vector<float>& values) {
    put<std::uint64_t>(values.size());
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  std::string bytes;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, piece(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string text() {
    const auto size = get<std::uint64_t>();
    return std::string(piece(size));
  }
  std::vector<float> floats() {
    const std::size_t size = count(sizeof(float));
    std::vector<float> values(size);
    const std::string_view from = piece(size * sizeof(float));
    if (size != 0) std::memcpy(values.data(), from.data(), from.size());
    return values;
  }
  /// A number of things that take at least `least` bytes each.
  std::size_t count(std::size_t least) {
    const auto number = get<std::uint64_t>();
    if (number > rest_.size() / least) refuse();
    return number;
  }
  void require_end() const {
    if (!rest_.empty()) refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw InternalError("a message between processes is not what was sent");
  }
  std::string_view piece(std::uint64_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view first = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return first;
  }
  std::string_view rest_;
};

void pack(Packer& to, const WorldResult& world) {
  to.put<std::uint8_t>(world.diverged_at.has_value());
  to.put<std::uint64_t>(world.diverged_at.value_or(0));
  for (const double value : {world.training_loss, world.largest_loss, world.training_accuracy,
                             world.test_accuracy, world.path_kl}) {
    to.put(value);
  }
  to.put(world.infinite_steps);
  to.put<std::uint64_t>(world.scores.size());
  for (const NamedScore& score : world.scores) {
    to.put_text(score.name);
    to.put(score.value);
  }
  to.put<std::uint64_t>(world.series.size());
  for (const NamedSeries& series : world.series) {
    to.put_text(series.name);
    to.put_floats(series.values);
  }
}

WorldResult unpack_world(Unpacker& from) {
  WorldResult world;
  const bool diverged = from.get<std::uint8_t>() != 0;
  const auto at = from.get<std::uint64_t>();
  if (diverged) world.diverged_at = at;
  for (double* value : {&world.training_loss, &world.largest_loss, &world.training_accuracy,
                        &world.test_accuracy, &world.path_kl}) {
    *value = from.get<double>();
  }
  world.infinite_steps = from.get<std::uint64_t>();
  world.scores.resize(from.count(sizeof(std::uint64_t) + sizeof(double)));
  for (NamedScore& score : world.scores) {
    score.name = from.text();
    score.value = from.get<double>();
  }
  world.series.resize(from.count(2 * sizeof(std::uint64_t)));
  for (NamedSeries& series : world.series) {
    series.name = from.text();
    series.values = from.floats();
  }
  return world;
}

double plain(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0;
}

}  // namespace

std::string trial_digest(const TrialResult& trial) {
  TrialResult copy = trial;
  copy.seconds = plain(copy.seconds);
  for (WorldResult& world : copy.worlds) {
    for (double* value : {&world.training_loss, &world.largest_loss, &world.training_accuracy,
                          &world.test_accuracy, &world.path_kl}) {
      *value = plain(*value);
    }
    for (NamedScore& score : world.scores) score.value = plain(score.value);
  }
  return sha256(pack_trials({std::move(copy)}));
}

std::string pack_trials(const std::vector<TrialResult>& trials) {
  Packer to;
  to.put<std::uint64_t>(trials.size());
  for (const TrialResult& trial : trials) {
    to.put(trial.key);
    to.put(trial.status);
    to.put_text(trial.message);
    to.put(trial.seed);
    to.put(trial.seconds);
    to.put<std::uint64_t>(trial.worlds.size());
    for (const WorldResult& world : trial.worlds) pack(to, world);
  }
  return std::move(to.bytes);
}

std::vector<TrialResult> unpack_trials(std::string_view bytes) {
  Unpacker from(bytes);
  std::vector<TrialResult> trials(from.count(sizeof(TrialKey)));
  for (TrialResult& trial : trials) {
    trial.key = from.get<TrialKey>();
    trial.status = from.get<TrialStatus>();
    trial.message = from.text();
    trial.seed = from.get<std::uint64_t>();
    trial.seconds = from.get<double>();
    trial.worlds.resize(from.count(sizeof(double)));
    for (WorldResult& world : trial.worlds) world = unpack_world(from);
  }
  from.require_end();
  return trials;
}

}  // namespace sfumato::lab
