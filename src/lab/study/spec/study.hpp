#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/images/features/features.hpp"
#include "lab/nn/network.hpp"
#include "lab/nn/noise_policy.hpp"
#include "lab/nn/trial_group.hpp"
#include "sfumato/audit/claim_check.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/adjacency.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/data/labelled_set.hpp"

namespace sfumato::lab {

/// How stored values become inputs: the set's public constants, pixels / 255 and nothing else, or the
/// constants that the study gives.
enum class StandardiseBy { public_constants, none, constants };

/// [data]: the records that D is drawn from.
struct DataSpec {
  std::string set;          ///< name of a known set, or the path of a CSV or NPY table
  std::size_t records = 0;  ///< N, the slots of D; 0: all records of the set
  std::uint64_t seed = 0;   ///< of the choice of records, and of the differing one
  StandardiseBy standardise = StandardiseBy::public_constants;
  Standardisation constants = {};  ///< for StandardiseBy::constants

  std::string label = {};        ///< of a table: the column of classes; empty: the last
  int classes = 0;               ///< of a table: 0: the largest label plus one
  std::string test = {};         ///< of a table: the path of another one to test on; empty: none
  std::size_t test_records = 0;  ///< the first so many are tested on; 0: all
  /// The last so many records of the set are held out and tested on instead of the test set; 0: none.
  std::size_t validation = 0;
  FeatureOptions features = {};    ///< what models see of the records
  std::string test_features = {};  ///< of the test set, for features from a file
  Where where = Where::in("data");

  [[nodiscard]] bool is_table() const;  ///< a file, not a known set
};

/// [adjacency]: how D' differs from D.
struct AdjacencySpec {
  Adjacency kind = Adjacency::remove;
  std::optional<std::uint32_t> record = {};  ///< of the set, from 0; none: a random one of D
  bool canary = false;                       ///< in D the record carries the label of another class
  Where where = Where::in("adjacency");
};

/// What is trained: a network by noisy minibatch steps, or a convex loss by full-batch noisy gradient
/// descent  x <- x - eta grad f(x) + N(0, S)  from x = 0, whose distribution is known or bounded (Spec §8).
enum class ModelKind { network, quadratic, ridge, logistic };

/// "network", "quadratic", "ridge" or "logistic".
[[nodiscard]] std::string_view name(ModelKind kind);

/// One of [[model.layers]], as written; sizes that its type has not stay 0.
struct LayerSpec {
  std::string name = {};  ///< empty: made of the type
  std::string type = {};
  int outputs = 0, channels = 0, kernel = 0, stride = 1, padding = 0, size = 0;
  Where where = Where::in("layer");
};

/// A quadratic loss 1/2 (x - minimiser)^T curvature (x - minimiser).
struct QuadraticSpec {
  Eigen::MatrixXd curvature = {};
  Eigen::VectorXd minimiser = {};
};

/// [model]: a preset or layers of a network, or a convex loss.
struct ModelSpec {
  ModelKind kind = ModelKind::network;
  std::string preset = {};
  std::string activation = "relu";  ///< of the preset
  std::vector<LayerSpec> layers = {};

  double ridge = 0.0;     ///< of ridge and logistic: adds ridge/2 |w|^2, the same in D and D'
  bool intercept = true;  ///< of ridge and logistic: a feature that is 1 for every record
  QuadraticSpec quadratic = {}, quadratic_other = {};  ///< of quadratic: the losses of D and D'
  Where where = Where::in("model");
};

/// One of [[noise]]; one with a list of variances is as many policies, each named after its variance.
struct NoiseSpec {
  std::string name = {};  ///< given, or that of the rule
  /// Without the shapes, which are made of `covariance`. A clip or a noise multiplier of 0: as [train] says, or to be found.
  NoiseRule rule = NoNoise{};
  std::string covariance = {};  ///< path, for FixedNoise and metrics with a shape
  bool control =
      false;  ///< nobody claims anything of it: it is there to show that the attack works
  Where where = Where::in("noise");

  [[nodiscard]] bool is_private() const { return std::holds_alternative<PrivateNoise>(rule); }
  /// Throws   std::bad_variant_access unless it is private.
  [[nodiscard]] const PrivateNoise& private_noise() const { return std::get<PrivateNoise>(rule); }
  [[nodiscard]] PrivateNoise& private_noise() { return std::get<PrivateNoise>(rule); }
};

/// What the models of D and D' of a replica have in common. Batches are then drawn over the slots of D, one of which is empty
/// in D'; otherwise D' has batches of its own over its own records, N - 1 of them where one is removed.
struct SharedBetweenWorlds {
  bool init = true, batches = true, noise = true;

  [[nodiscard]] bool all() const { return init && batches && noise; }
  [[nodiscard]] bool none() const { return !init && !batches && !noise; }
};

/// [audit]: how many models are trained, and what is asked of them.
struct AuditSpec {
  std::size_t pairs = 1;      ///< T1: adjacent pairs
  std::size_t replicas = 10;  ///< T2: models per pair, world and policy
  /// D and D' of a replica have a seed in common; otherwise each has its own, batches over the slots of D all the same unless
  /// `share` says otherwise.
  bool coupled = true;
  SharedBetweenWorlds share = {};  ///< what comes from the seed in common
  bool random_pairs = false;       ///< each replica draws its differing record anew
  /// One-run audit: so many slots of D, chosen at random, hold their record or not by a fair coin each;
  /// a replica is one model for each policy. 0: none.
  std::size_t canaries = 0;
  /// Shadow models for LiRA: every slot of D is filled or not by a fair coin, in each of so many replicas.
  std::size_t shadow_models = 0;
  bool record_losses = true;  ///< keep the loss of every record of D, which some statistics need
  bool flatness = false;  ///< measure curvature, mixed derivative and minibatch noise (Spec §10)
  std::vector<double> epsilons = {0.1};
  double delta = 1e-5;
  double confidence = 0.95;
  std::vector<ClaimedGuarantee> claims = {};  ///< to check
  Where where = Where::in("audit");

  /// Models of one policy in a replica: of D and D', or of one world that coins made.
  [[nodiscard]] std::size_t worlds() const { return canaries + shadow_models > 0 ? 1 : 2; }
  /// Whether D and D' share everything, so that they are trained side by side.
  [[nodiscard]] bool together() const { return coupled && share.all(); }
};

/// What to train, as a value: a study file with the overrides of the command line, checked as far as
/// it can be without the data.
struct Study {
  std::string title = {};
  DataSpec data;
  AdjacencySpec adjacency;
  ModelSpec model;
  Training train;
  std::vector<NoiseSpec> noise;
  AuditSpec audit;
  std::string source = {};  ///< the file
};

/// Reads a study. `settings` are `key=value`, the key a path from the root (train.seed, noise.0.variance
/// or, by name, noise.isotropic.variance), the value TOML or one word.
///
/// Throws   InvalidArgument with file:line:column, or with the setting, for a key that is unknown (with a
///          suggestion), missing or of another type, a value out of range, or parts that contradict each
///          other; and as TomlTable::read().
[[nodiscard]] Study read_study(const std::string& path,
                               const std::vector<std::string>& settings = {});
/// The same from memory.
[[nodiscard]] Study parse_study(std::string_view text, const std::string& source,
                                const std::vector<std::string>& settings = {});

/// The files that a run of the study reads, its own among them: none of them may be written.
[[nodiscard]] std::vector<std::string> input_files(const Study& study);

/// The effective study as TOML, every key with its value, in one order: what logs and ledgers keep. Reading
/// it gives the same study. Paths are absolute.
[[nodiscard]] std::string canonical_text(const Study& study);

/// In what two canonical texts differ, key by key: "train.seed is 1 there and 2 here".
[[nodiscard]] std::vector<std::string> study_differences(const std::string& there,
                                                         const std::string& here);

/// Every key of a study in the order of the canonical text.
[[nodiscard]] std::vector<KeyInfo> study_keys();

}  // namespace sfumato::lab
