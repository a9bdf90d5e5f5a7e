#pragma once

#include <vector>

#include "lab/study/spec/study.hpp"
#include "reproduce/paper_statistic.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

namespace sfumato::apps {

using namespace lab;

/// What Algorithm 1 reads of a ledger: for every policy of `study`, whose ledger it is, the confidences
/// exp(-loss) of the models of each pair. Trials that diverged or failed are left out, and so are pairs
/// that lack trials of a world; a policy has none where record losses were not kept.
[[nodiscard]] std::vector<std::vector<ConfidencePair>> confidences_by_policy(const Ledger& ledger,
                                                                             const Study& study);

}  // namespace sfumato::apps
