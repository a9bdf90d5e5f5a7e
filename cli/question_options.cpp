#include "question_options.hpp"

#include "list_option.hpp"

namespace sfumato::cli {

void add_question_options(CLI::App& command, Overrides& overrides) {
  add_numbers_option(command, "--times", overrides.times,
                     "Times instead of the file's; inf = stationary");
  add_numbers_option(command, "--epsilons", overrides.epsilons, "Epsilons instead of the file's");
  add_numbers_option(command, "--delta", overrides.deltas,
                     "One or more deltas instead of the file's");
}

}  // namespace sfumato::cli
