#include <benchmark/benchmark.h>

#include <vector>

#include "sfumato/random/stream.hpp"
#include "sfumato/sde/linear_drift.hpp"

namespace sfumato {
namespace {

template <class T>
void normals(benchmark::State& state) {
  const Stream stream(StreamKey(1, Purpose::simulation));
  std::vector<T> values(static_cast<std::size_t>(state.range(0)));
  std::uint64_t step = 0;
  for (auto _ : state) {
    stream.fill_normal(step++, 0, values);
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
void float_normals(benchmark::State& state) { normals<float>(state); }
void double_normals(benchmark::State& state) { normals<double>(state); }

/// 2 d^2 operations for each point; checked against Eigen first.
void linear_field(benchmark::State& state) {
  const Eigen::Index d = state.range(0), rows = 192;
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(d, d);
  const Eigen::VectorXd pull = Eigen::VectorXd::Random(d);
  const Field field = linear_drift(a, pull);
  const Points x = Points::Random(rows, d);
  Points out(rows, d);
  field(0.0, x, out);
  const Points expected = ((-a * x.matrix().transpose()).colwise() + pull).transpose().array();
  if (!((out - expected).abs() < 1e-12 * static_cast<double>(d)).all()) {
    state.SkipWithError("linear_drift differs from Eigen");
    return;
  }
  for (auto _ : state) {
    field(0.0, x, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * rows * 2 * d * d);
}

BENCHMARK(float_normals)->Arg(64)->Arg(192)->Arg(16384);
BENCHMARK(double_normals)->Arg(16384);
BENCHMARK(linear_field)->Arg(2)->Arg(10)->Arg(50);

}  // namespace
}  // namespace sfumato
