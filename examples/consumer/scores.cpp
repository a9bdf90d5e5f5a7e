// scores.cpp: do the scores of trained models refute a claimed (epsilon, delta)?
#include <cmath>
#include <cstdio>

#include "sfumato/sfumato.hpp"

int main() {
  sfumato::ScoreSample scores;  // one score per model: 500 trained with the record, 500 without
  for (int i = 0; i < 500; ++i) {
    scores.with.push_back(2.0 + std::sin(i));
    scores.without.push_back(std::sin(0.7 * i));
  }
  const sfumato::Audit audit = sfumato::audit_scores(scores, {.confidence = 0.95});
  const sfumato::ClaimCheck check =
      sfumato::check_claim(audit, {sfumato::Epsilon(1.0), sfumato::Delta(1e-5)});
  std::printf("epsilon %s %.3f\n", symbol(check.found.claim).data(), check.found.value.nats());
  std::printf("claim of epsilon = 1: %s\n", name(check.verdict()).data());
  return check.verdict() == sfumato::Verdict::violated ? 1 : 0;
}
