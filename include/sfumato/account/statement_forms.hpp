#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sfumato/account/accountant/guarantee.hpp"

namespace sfumato {

/// The forms of one privacy statement.
enum class StatementForm {
  markdown,  ///< for a model card
  registry,  ///< a record of the OpenDP/NIST deployments registry, YAML
  checklist,  ///< the layers of NIST SP 800-226 and the questions of the W3C note for reviewers, Markdown
  json,  ///< for programs
};
inline constexpr std::array kStatementForms = {StatementForm::markdown, StatementForm::registry,
                                               StatementForm::checklist, StatementForm::json};
/// "markdown", "registry", "checklist" or "json".
[[nodiscard]] std::string_view name(StatementForm form);

/// The form that a file is written in by its name: .yaml and .yml the registry, .json JSON, all others Markdown.
[[nodiscard]] StatementForm form_of_file(const std::string& path);

/// What the statement does not know is a question there, marked as one; what is not covered is said to be not covered.
[[nodiscard]] std::string written(const PrivacyStatement& statement, StatementForm form);

}  // namespace sfumato
