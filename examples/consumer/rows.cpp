// rows.cpp: which patients does a published ridge regression expose most?
#include <algorithm>
#include <cstdio>
#include <functional>

#include "sfumato/sfumato.hpp"

int main() {
  sfumato::RowsQuestion question;
  question.table = "diabetes.csv";
  question.target = "progression";
  question.ridge = 1.0;
  question.noise = 100.0;  // variance of the noise that is added to each weight

  sfumato::Observer observer;
  sfumato::RowsAnswer answer = sfumato::answer(question, observer);
  std::ranges::sort(answer.risks, std::greater{},
                    [](const sfumato::RowRisk& row) { return row.advantage.value; });
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [value, claim] = answer.risks[i].advantage;
    std::printf("row %td: advantage %s %.4f\n", answer.risks[i].row + 1, symbol(claim).data(),
                value);
  }
}
