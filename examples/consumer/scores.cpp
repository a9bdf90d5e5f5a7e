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
  const auto audit = sfumato::audit_scores(scores, {.confidence = 0.95});
  const auto check = sfumato::check_claim(audit, {sfumato::Epsilon(1.0), sfumato::Delta(1e-5)});
  std::printf("epsilon %s\nclaim of epsilon = 1: %s\n", claimed_text(check.found).c_str(),
              name(check.verdict()).data());
  return check.verdict() == sfumato::Verdict::violated ? 1 : 0;
}
