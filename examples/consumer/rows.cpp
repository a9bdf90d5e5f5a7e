// rows.cpp: which patients does a published ridge regression expose most?
#include <cstdio>

#include "sfumato/sfumato.hpp"

int main() {
  sfumato::RowsQuestion question;
  question.table = "diabetes.csv";
  question.target = "progression";
  question.ridge = 1.0;
  question.noise = 100.0;  // variance of the noise that is added to each weight
  const sfumato::RowsAnswer answer = sfumato::answer(question);
  for (const sfumato::RowRisk* row : sfumato::riskiest(answer.risks, 3)) {
    std::printf("row %td: advantage %s %.4f\n", row->row + 1, symbol(row->advantage.claim).data(),
                row->advantage.value);
  }
}
