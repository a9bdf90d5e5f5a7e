// scores.cpp: do the scores of trained models refute a claimed (epsilon, delta)?
#include <cmath>
#include <cstdio>

#include "sfumato/sfumato.hpp"

int main() {
  sfumato::ScoreSample scores;  // one score per model: 500 trained with the record, 500 without
  for (int i = 0; i < 500; ++i) {
    scores.with.push_back(1.0 + std::sin(i));
    scores.without.push_back(std::sin(0.7 * i));
  }
  const sfumato::Audit audit = sfumato::audit_scores(scores, {.confidence = 0.95});
  const sfumato::ClaimCheck check =
      sfumato::check_claim(audit, {sfumato::Epsilon(1.0), sfumato::Delta(1e-5)});
  const auto found = map(check.found, [](sfumato::Epsilon epsilon) { return epsilon.nats(); });
  std::printf("epsilon %s %s\n", symbol(found.claim).data(),
              sfumato::format_claimed(found).c_str());
  std::printf("claim of epsilon = 1: %s\n", name(check.verdict()).data());
  return check.verdict() == sfumato::Verdict::violated ? 1 : 0;
}
