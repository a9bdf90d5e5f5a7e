#include "lab/ledger/trial_rows.hpp"

#include <fmt/format.h>

#include <limits>

#include "lab/ledger/content.hpp"
#include "lab/ledger/trial_bytes.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

[[noreturn]] void refuse_strays(const std::string& path) {
  refuse_damaged(path, "rows in it belong to no trial");
}

/// A table read in the order of the keys beside the one of the trials, so that each row is touched once.
class Rows {
 public:
  Rows(const DatabaseConnection& connection, const char* sql)
      : query_(connection.query(sql)), path_(connection.path()) {
    advance();
  }

  /// Calls `read(query)` for the rows of the trial, whose rows come next if there are some.
  template <class Read>
  void of_trial(const TrialKey& key, Read&& read) {
    while (there_ && key_ == key) {
      read(query_);
      advance();
    }
    if (there_ && key_ < key) refuse_strays(path_);
  }
  void require_end() const {
    if (there_) refuse_strays(path_);
  }

 private:
  void advance() {
    there_ = query_.next();
    if (there_) key_ = key_of(query_);
  }
  Query query_;
  const std::string& path_;
  bool there_ = false;
  TrialKey key_;
};

WorldResult read_world(Query& query) {
  WorldResult world;
  world.diverged_at = query.optional_integer();
  for (double* value : {&world.training_loss, &world.largest_loss, &world.training_accuracy,
                        &world.test_accuracy, &world.path_kl}) {
    *value = query.real();
  }
  world.infinite_steps = static_cast<std::uint64_t>(query.integer());
  return world;
}

}  // namespace

Query& operator<<(Query& query, const TrialKey& key) {
  return query << std::int64_t{key.policy} << std::int64_t{key.pair} << std::int64_t{key.replica};
}

TrialKey key_of(Query& query) {
  const auto part = [&] {
    const std::int64_t value = query.integer();
    if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) {
      refuse_damaged(query.path(), fmt::format("{} is no number of a trial", value));
    }
    return static_cast<std::uint32_t>(value);
  };
  const std::uint32_t policy = part(), pair = part(), replica = part();
  return {policy, pair, replica};
}

TrialStatus require_status(const std::string& text, const std::string& path) {
  for (const TrialStatus status : {TrialStatus::ok, TrialStatus::diverged, TrialStatus::failed}) {
    if (name(status) == text) return status;
  }
  refuse_damaged(path, fmt::format("a trial has the status `{}`", text));
}

TrialWriter::TrialWriter(const DatabaseConnection& connection)
    : connection_(connection),
      exists_(connection.query(
          "SELECT count(*) FROM trial WHERE policy = ? AND pair = ? AND replica = ?")),
      trial_(connection.query("INSERT INTO trial VALUES(?, ?, ?, ?, ?, ?, ?, ?)")),
      world_(connection.query("INSERT INTO world VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
      score_(connection.query("INSERT INTO score VALUES(?, ?, ?, ?, ?, ?, ?)")),
      series_(connection.query("INSERT INTO series VALUES(?, ?, ?, ?, ?, ?, ?)")) {}

void TrialWriter::put(const TrialResult& trial) {
  exists_ << trial.key;
  const bool is_there = exists_.next() && exists_.integer() != 0;
  exists_.again();
  if (is_there) {
    throw InternalError(fmt::format("trial ({}, {}, {}) is in the ledger already", trial.key.policy,
                                    trial.key.pair, trial.key.replica));
  }
  const std::string digest = trial_digest(trial);
  (trial_ << trial.key << std::string(name(trial.status)) << trial.message
          << static_cast<std::int64_t>(trial.seed) << trial.seconds << digest)
      .run();
  for (std::size_t w = 0; w < trial.worlds.size(); ++w) {
    put_world(trial.key, static_cast<std::int64_t>(w), trial.worlds[w]);
  }
  content_ += trial_item(digest, connection_.path());
}

void TrialWriter::put_world(const TrialKey& key, std::int64_t number, const WorldResult& world) {
  (world_ << key << number << world.diverged_at << world.training_loss << world.largest_loss
          << world.training_accuracy << world.test_accuracy << world.path_kl
          << static_cast<std::int64_t>(world.infinite_steps))
      .run();
  for (std::size_t i = 0; i < world.scores.size(); ++i) {
    (score_ << key << number << static_cast<std::int64_t>(i) << world.scores[i].name
            << world.scores[i].value)
        .run();
  }
  for (std::size_t i = 0; i < world.series.size(); ++i) {
    (series_ << key << number << static_cast<std::int64_t>(i) << world.series[i].name
             << world.series[i].values)
        .run();
  }
}

void for_each_trial(const DatabaseConnection& connection,
                    const std::function<void(const TrialResult&)>& use) {
  const std::string& path = connection.path();
  Query trials = connection.query(
      "SELECT policy, pair, replica, status, message, seed, seconds, digest FROM trial "
      "ORDER BY policy, pair, replica");
  Rows worlds(connection,
              "SELECT policy, pair, replica, world, diverged_at, training_loss, largest_loss, "
              "training_accuracy, test_accuracy, odometer, infinite_steps FROM world "
              "ORDER BY policy, pair, replica, world");
  Rows scores(connection,
              "SELECT policy, pair, replica, world, position, name, value FROM score "
              "ORDER BY policy, pair, replica, world, position");
  Rows series(connection,
              "SELECT policy, pair, replica, world, position, name, floats FROM series "
              "ORDER BY policy, pair, replica, world, position");
  std::optional<TrialKey> previous;
  while (trials.next()) {
    TrialResult trial;
    trial.key = key_of(trials);
    if (previous && !(*previous < trial.key)) {
      refuse_damaged(path, "its trials are out of order");
    }
    previous = trial.key;
    trial.status = require_status(trials.text(), path);
    trial.message = trials.text();
    trial.seed = static_cast<std::uint64_t>(trials.integer());
    trial.seconds = trials.real();
    const std::string digest = trials.text();
    // Worlds and positions count from 0 without a gap: they are places in lists.
    const auto require_place = [&](std::int64_t place, std::size_t size) {
      if (place < 0 || static_cast<std::uint64_t>(place) != size) refuse_strays(path);
    };
    const auto of_world = [&](Query& query) -> WorldResult& {
      const std::int64_t number = query.integer();
      if (number < 0 || static_cast<std::uint64_t>(number) >= trial.worlds.size()) {
        refuse_strays(path);
      }
      return trial.worlds[static_cast<std::size_t>(number)];
    };
    worlds.of_trial(trial.key, [&](Query& query) {
      require_place(query.integer(), trial.worlds.size());
      trial.worlds.push_back(read_world(query));
    });
    scores.of_trial(trial.key, [&](Query& query) {
      WorldResult& world = of_world(query);
      require_place(query.integer(), world.scores.size());
      std::string label = query.text();
      world.scores.push_back({std::move(label), query.real()});
    });
    series.of_trial(trial.key, [&](Query& query) {
      WorldResult& world = of_world(query);
      require_place(query.integer(), world.series.size());
      std::string label = query.text();
      world.series.push_back({std::move(label), query.floats()});
    });
    if (trial_digest(trial) != digest) {
      refuse_damaged(path, fmt::format("trial ({}, {}, {}) is not what was written",
                                       trial.key.policy, trial.key.pair, trial.key.replica));
    }
    use(trial);
  }
  worlds.require_end();
  scores.require_end();
  series.require_end();
}

}  // namespace sfumato::lab
