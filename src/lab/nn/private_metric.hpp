#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lab/nn/clipping.hpp"
#include "lab/nn/network.hpp"

namespace sfumato::lab {

struct BlockScales;
struct StepGradient;

/// A covariance of noise made beforehand, in the network's order: diag(variances) + F F^T, F column by column. Single precision, as training has
/// it; copies share the numbers.
struct NoiseShape {
  std::shared_ptr<const std::vector<float>> variances = {};
  std::shared_ptr<const std::vector<std::vector<float>>> factor = {};

  /// Of one parameter: the low-rank part counts.
  [[nodiscard]] double variance(std::size_t parameter) const;
};

/// Throws on behalf of the policy that is checked: problem and remedy.
using RefusePolicy = std::function<void(const std::string& problem, const std::string& remedy)>;

/// Refuses a shape without variances, or of another network; `positive` asks for variances that can be divided by.
void require_shape(const NoiseShape& shape, const Network& network, bool positive,
                   const RefusePolicy& refuse);

/// A metric is the norm in which the gradient of every record is clipped, and in which the noise on their sum is isotropic (Spec §23). One
/// type each, with answers to
///
///   clipping, deviations   the norm; the noise, block by block, before the shape
///   shape                  variances (and a factor) made beforehand, if it has them
///   least_shape            the least factor of a variance that it can ask for
///   contribution           the largest one of a record to a sum, in deviations of its noise
///   require_valid          refuses what has no meaning for a network
///   assumption             what a guarantee takes for granted beside the clip; empty: nothing
///   kLearns, kFollows      whether the shape is estimated while training; whether it follows from releases at all
///
/// This base answers for one clip over all parameters, with Euclidean norm.
struct EuclideanMetric {
  static constexpr bool kLearns = false, kFollows = false;

  [[nodiscard]] Clipping clipping(double clip) const { return {{clip}}; }
  [[nodiscard]] std::vector<double> deviations(double clip, double noise_multiplier,
                                               const Network& network) const;
  [[nodiscard]] const NoiseShape* shape() const { return nullptr; }
  [[nodiscard]] double least_shape() const { return 1.0; }
  [[nodiscard]] double contribution(double clip, double noise_multiplier,
                                    const Network& network) const;
  void require_valid(double clip, const Network& network, const RefusePolicy& refuse) const;
  [[nodiscard]] std::string assumption() const { return {}; }
};

/// Euclidean, noise of deviation  noise_multiplier clip.
struct IsotropicMetric : EuclideanMetric {
  static constexpr std::string_view kName = "isotropic";
};

/// Each layer clipped by itself, with the split of noise that is least in sum (layer_split).
struct PerLayerMetric : EuclideanMetric {
  static constexpr std::string_view kName = "per_layer";
  std::vector<double> clips = {};  ///< of each block; none in a study: an equal share of the clip

  [[nodiscard]] Clipping clipping(double clip) const;
  [[nodiscard]] std::vector<double> deviations(double clip, double noise_multiplier,
                                               const Network& network) const;
  [[nodiscard]] double contribution(double clip, double noise_multiplier,
                                    const Network& network) const;
  void require_valid(double clip, const Network& network, const RefusePolicy& refuse) const;
};

/// sqrt(sum g_i^2 / v_i) of variances v made beforehand without the private data; noise of variance (noise_multiplier clip)^2 v_i.
struct WhitenedMetric : EuclideanMetric {
  static constexpr std::string_view kName = "whitened";
  NoiseShape given = {};

  [[nodiscard]] const NoiseShape* shape() const { return &given; }
  [[nodiscard]] double least_shape() const;
  void require_valid(double clip, const Network& network, const RefusePolicy& refuse) const;
  [[nodiscard]] std::string assumption() const;
};

/// The same norm, noise of covariance (noise_multiplier clip)^2 (diag(v) + F F^T), which reveals no more.
struct LowRankMetric : WhitenedMetric {
  static constexpr std::string_view kName = "low_rank";

  void require_valid(double clip, const Network& network, const RefusePolicy& refuse) const;
};

/// As whitened, v estimated along the way from what earlier steps have released (Spec §23.3).
struct ReleasedGradientsMetric : EuclideanMetric {
  static constexpr std::string_view kName = "released";
  static constexpr bool kLearns = true, kFollows = true;

  [[nodiscard]] double least_shape() const;
};

/// The layers whose inputs the metric `input` whitens.
enum class MetricLayers { first, all };

/// Euclidean, on inputs that were whitened by their released second moments (Spec §23.4).
struct InputMomentsMetric : EuclideanMetric {
  static constexpr std::string_view kName = "input";
  static constexpr bool kFollows = true;
  double mu = 0.0;           ///< cost of the release of the moments, as mu of Gaussian privacy
  double floor = 1.0;        ///< of the eigenvalues, in edges of the noise
  double input_bound = 0.0;  ///< longer inputs are scaled down in the moments; 0: sqrt(inputs)
  MetricLayers layers = MetricLayers::first;

  void require_valid(double clip, const Network& network, const RefusePolicy& refuse) const;
};

using TrainingMetric = std::variant<IsotropicMetric, PerLayerMetric, WhitenedMetric, LowRankMetric,
                                    ReleasedGradientsMetric, InputMomentsMetric>;

[[nodiscard]] std::string_view name(const TrainingMetric& metric);
[[nodiscard]] std::string_view name(MetricLayers layers);

/// Gradients clipped record by record, and the noise of a Gaussian mechanism on their sum.
struct PrivateNoise {
  static constexpr std::string_view kName = "private";
  double clip = 0.0;              ///< of each record's gradient, in the metric
  double noise_multiplier = 0.0;  ///< deviation of the noise over what a record contributes at most
  TrainingMetric metric = IsotropicMetric{};

  // As every rule of noise_policy.hpp.
  [[nodiscard]] BlockScales scales(double, float, float) const;
  void fill_variances(const StepGradient& step, std::span<double> variances) const;
  [[nodiscard]] std::string guarantee() const;
  void require_valid(const Network& network, const RefusePolicy& refuse) const;

  [[nodiscard]] Clipping clipping() const;
  /// Of the noise on the sum of clipped gradients, block by block, before the shape of the metric.
  [[nodiscard]] std::vector<double> deviations(const Network& network) const;
  /// The least of them, and with the shape, if that is less: what single precision has to hold.
  [[nodiscard]] double least_deviation(const Network& network) const;
  /// The largest contribution of a record to a sum, in deviations of its noise: 1 / noise_multiplier whatever the metric, computed from clips
  /// and deviations and rounded up (Spec §19.4).
  [[nodiscard]] double contribution(const Network& network) const;
  [[nodiscard]] const NoiseShape* shape() const;
  [[nodiscard]] std::string assumption() const;  ///< as the metric's
  [[nodiscard]] bool learns() const;             ///< the metric's kLearns
  [[nodiscard]] bool follows() const;            ///< its kFollows
};

/// Whether single precision holds the variance of noise with all of its digits.
[[nodiscard]] bool holds_variance(double deviation);

/// The noise of layers that are clipped one by one, so that together they reveal mu and their variances, each times the number of the layer's
/// parameters and its weight, add up to the least (Spec §23.1):
///
///   s_l^2 = C_l / sqrt(d_l w_l)  sum_k C_k sqrt(d_k w_k) / mu^2
struct LayerSplit {
  std::vector<double> deviations;  ///< s_l
  double objective;                ///< sum_l d_l w_l s_l^2
  double uniform_objective;        ///< the same with equal s_l
};
/// Throws   InvalidArgument if sizes differ, nothing is given or a number is not finite and positive.
[[nodiscard]] LayerSplit layer_split(std::span<const double> clips, std::span<const double> sizes,
                                     std::span<const double> weights, double mu);

/// For a diagonal Hessian h and second moments G of the gradient: the variances of trace d that cost one step least at equal average
/// privacy, Sigma proportional to sqrt(G / h), and how much less they cost than equal ones (Spec §23.2): an average, no guarantee.
struct OneStepShape {
  std::vector<double> variances;
  double gain;
};
[[nodiscard]] OneStepShape one_step_shape(std::span<const double> hessian,
                                          std::span<const double> gradient_moment);

}  // namespace sfumato::lab
