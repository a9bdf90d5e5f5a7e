#pragma once

#include <CLI/CLI.hpp>

#include "sfumato/answers/problem/questions.hpp"

namespace sfumato::cli {

/// Adds --times, --epsilons and --delta.
void add_question_options(CLI::App& command, Overrides& overrides);

}  // namespace sfumato::cli
