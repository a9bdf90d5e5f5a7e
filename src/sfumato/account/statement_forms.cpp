#include "sfumato/account/statement_forms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "sfumato/core/error.hpp"

namespace sfumato {
namespace {

constexpr const char* kQuestion = "QUESTION: ";

std::string tuning_text(const StatementFacts& facts) {
  return facts.tuning.empty() ? "Not covered: the cost of choosing settings on private records is "
                                "not in epsilon."
                              : facts.tuning;
}
const char* evaluation_text() {
  return "Not covered: scores computed on private records without noise are releases too.";
}
const char* preprocessing_text() {
  return "Not covered: statistics of the records that entered the features, scales or clip norms.";
}
std::string arithmetic_text(const StatementFacts& facts) {
  return facts.arithmetic == NoiseArithmetic::exact
             ? "Sums and noise are exact, in integers; timing is not covered."
             : "Not covered: noise is in floating point, whose low bits are outside the guarantee.";
}
std::string unit_text(const StatementFacts& facts) {
  return facts.group_size == 1 ? "Record-level"
                               : fmt::format("Groups of {} records", facts.group_size);
}
std::string neighbours_text(const StatementFacts& facts) {
  return fmt::format("Two data sets are neighbours if they {} ({}).",
                     describe_neighbours({facts.relation, facts.group_size}), name(facts.relation));
}
std::string gdp_text(const StatementFacts& facts) {
  if (!facts.gdp) return {};
  return fmt::format(
      " mu <= {:.6g} of Gaussian privacy outside an event of probability {} (regret "
      "<= {:.2g}).",
      facts.gdp->mu_upper * (1.0 + 1e-6), facts.gdp->outside, facts.gdp->regret * 1.1);
}
std::string digest_text(const StatementFacts& facts) {
  return facts.digest.empty() ? "" : fmt::format(" Account: SHA-256 {}.", facts.digest);
}
std::string method_text(const StatementFacts& facts) {
  return fmt::format(
      "All releases are composed as a whole: {}; numerical error included, rounded "
      "up.",
      facts.method);
}

/// A text in YAML, whatever is in it: JSON's quotes are YAML's double ones.
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

/// A number that YAML 1.1 takes for one: with a point before its exponent.
std::string yaml_number(double value) {
  std::string text = fmt::format("{}", value);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) {
    text.insert(exponent, ".0");
  }
  return text;
}

/// A record whose keys are those of the registry's.
class YamlRecord {
 public:
  void open(const char* key) { line(fmt::format("{}:", key)), ++depth_; }
  void close() { --depth_; }
  void text(const char* key, const std::string& value) {
    line(fmt::format("{}: {}", key, quoted(value)));
  }
  void question(const char* key, const char* value) { text(key, std::string(kQuestion) + value); }
  void plain(const char* key, const std::string& value) { line(fmt::format("{}: {}", key, value)); }
  void item(const std::string& value) { line("- " + value); }
  [[nodiscard]] const std::string& written() const { return text_; }

 private:
  void line(const std::string& value) {
    text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + value + "\n";
  }
  std::string text_;
  int depth_ = 0;
};

void write_basics(YamlRecord& record) {
  record.open("basic");
  record.question("name", "what is the model called?");
  record.open("data_curators");
  record.item(std::string("data_curator_name: ") +
              quoted(std::string(kQuestion) + "who publishes it?"));
  record.plain("  data_curator_type",
               quoted(std::string(kQuestion) + "company, government, nonprofit or research?"));
  record.close();
  record.question("intended_use", "what is the model for?");
  record.text("data_product_type", "Machine learning model");
  record.question("data_product_region", "which region do the data describe?");
  record.question("description", "what was it trained on, in a sentence?");
  record.question("publication_date", "when was it published, as YYYY-MM-DD?");
  record.question("data_product_sector", "which sector do the data describe?");
  record.close();
}

std::string registry_record(const StatementFacts& facts) {
  YamlRecord record;
  record.question("url_slug", "a short name for its address");
  record.plain("status", "Draft");
  record.plain("tier", "3");
  record.open("deployment");
  write_basics(record);
  record.open("dp_variant");
  record.text("variant_name", facts.delta == 0.0 ? "Pure DP" : "Approximate DP");
  record.question("data_domain", "which tables could have been the training data?");
  record.question("unprotected_quantities",
                  "what was published without noise (numbers of records, scores, vocabularies)?");
  record.close();
  record.open("privacy_loss");
  record.text("privacy_unit", unit_text(facts));
  record.text("privacy_unit_details",
              neighbours_text(facts) + " QUESTION: how many records can one person have?");
  record.open("privacy_parameters");
  record.plain("epsilon", yaml_number(facts.epsilon));
  record.plain("delta", yaml_number(facts.delta));
  record.close();
  record.text("privacy_parameters_details",
              "Proven for every pair of neighbouring data sets." + gdp_text(facts));
  record.close();
  record.open("deployment_model");
  record.text("model_name", "Central");
  record.text("model_name_details",
              "Whoever trains holds the records and adds the noise; what is listed as released "
              "leaves.");
  record.question("actors", "who may see the model, the records, the noise?");
  record.question("release_type", "one release, or many?");
  record.question("data_source_type", "are the records fixed, or do new ones come in?");
  record.text("access_type", "Non-interactive");
  record.close();
  record.open("accounting");
  record.question("post_processing", "what was done with the model afterwards?");
  record.text("composition", method_text(facts) + digest_text(facts));
  record.close();
  record.open("implementation");
  record.text("preprocessing_and_hyperparameter_tuning",
              fmt::format("Tuning: {} Preprocessing: {} Evaluation: {}", tuning_text(facts),
                          preprocessing_text(), evaluation_text()));
  record.text("mechanisms",
              fmt::format("{}. {}", fmt::join(facts.released, "; "), arithmetic_text(facts)));
  record.text("justification",
              fmt::format("The guarantee rests on: {}. QUESTION: why these parameters, and who "
                          "checked that training does this?",
                          fmt::join(facts.conditions, "; ")));
  record.close();
  record.open("administrative");
  record.question("sources", "where is the model described?");
  record.open("registry_authors");
  record.item(quoted(std::string(kQuestion) + "who fills in this record?"));
  record.close();
  record.close();
  return record.written();
}

/// A question of a list, its answer, and whether there is one: the boxes of Markdown.
struct Check {
  enum class State { answered, not_covered, open };
  std::string question;
  std::string answer;
  State state = State::answered;
};

std::string checks_text(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    const char* box = check.state == Check::State::answered ? "x" : " ";
    const char* mark = check.state == Check::State::open ? "To be answered: " : "";
    text += fmt::format("- [{}] **{}** {}{}\n", box, check.question, mark, check.answer);
  }
  return text;
}

std::string checklist(const PrivacyStatement& statement) {
  using State = Check::State;
  const StatementFacts& facts = statement.facts;
  const State tuning = facts.tuning.empty() ? State::not_covered : State::answered;
  const State arithmetic =
      facts.arithmetic == NoiseArithmetic::exact ? State::answered : State::not_covered;
  const std::vector<Check> layers = {
      {"Privacy parameters.", statement.claim + gdp_text(facts)},
      {"Unit of privacy.", unit_text(facts) + ". " + neighbours_text(facts)},
      {"Algorithm.", fmt::format("{}.", fmt::join(facts.released, "; "))},
      {"Correctness of the analysis.", method_text(facts) + digest_text(facts)},
      {"Correctness of the implementation.",
       fmt::format("does training do this: {}?", fmt::join(facts.conditions, "; ")), State::open},
      {"Tuning.", tuning_text(facts), tuning},
      {"Evaluation on private data.", evaluation_text(), State::not_covered},
      {"Preprocessing.", preprocessing_text(), State::not_covered},
      {"Floating point and side channels.", arithmetic_text(facts), arithmetic},
      {"Utility.", "how good is the model with this noise?", State::open},
      {"Bias.", "who does the noise hurt most?", State::open},
      {"Trust model.",
       "Central: whoever trains sees the records and the noise, and is trusted with both."},
      {"Security and access control.", "who can read the records, the noise and the account?",
       State::open},
      {"Data collection exposure.", "which records were collected that were not needed?",
       State::open}};
  const std::vector<Check> review = {
      {"What is the output, and who sees it?",
       fmt::format("{}. Anyone may see it who knows all other records, the code and the settings, "
                   "but not the noise.",
                   fmt::join(facts.released, "; "))},
      {"Whose data does one unit stand for?", "how many records can one person have?", State::open},
      {"How large are epsilon and delta, over which time?", statement.claim},
      {"Is the budget spent again?",
       "are later models trained on the same records? They add up: keep the account", State::open},
      {"How many parties have to be trusted?", "One, who trains."},
      {"What does accuracy cost?", "how good is the model without noise?", State::open},
      {"What is outside the guarantee?",
       fmt::format("{} {} {}", tuning_text(facts), evaluation_text(), preprocessing_text()),
       State::not_covered}};
  return fmt::format(
      "# Checklist of a privacy statement\n\nA box is ticked where the statement has the answer. "
      "Others are not covered by it, or have to be answered by people.\n\n## Layers of NIST SP "
      "800-226\n\n{}\n## Questions of a reviewer (W3C Group Note Draft, 12 February 2026)\n\n{}",
      checks_text(layers), checks_text(review));
}

std::string json_text(const PrivacyStatement& statement) {
  const StatementFacts& facts = statement.facts;
  const auto covered = [](bool is_covered, const std::string& text) {
    return nlohmann::ordered_json{{"covered", is_covered}, {"text", text}};
  };
  nlohmann::ordered_json json = {
      {"statement_version", 1},
      {"claim", statement.claim},
      {"epsilon", facts.epsilon},
      {"delta", facts.delta},
      {"adjacency", name(facts.relation)},
      {"group_size", facts.group_size},
      {"released", facts.released},
      {"conditions", facts.conditions},
      {"method", facts.method},
      {"tuning", covered(!facts.tuning.empty(), tuning_text(facts))},
      {"evaluation_on_private_data", covered(false, evaluation_text())},
      {"preprocessing", covered(false, preprocessing_text())},
      {"floating_point",
       covered(facts.arithmetic == NoiseArithmetic::exact, arithmetic_text(facts))},
      {"account_sha256", facts.digest}};
  if (facts.gdp) {
    json["mu"] = {{"outside", facts.gdp->outside},
                  {"upper", facts.gdp->mu_upper},
                  {"lower", facts.gdp->mu_lower},
                  {"regret", facts.gdp->regret}};
  }
  return json.dump(2) + "\n";
}

}  // namespace

std::string_view name(StatementForm form) {
  switch (form) {
    case StatementForm::markdown: return "markdown";
    case StatementForm::registry: return "registry";
    case StatementForm::checklist: return "checklist";
    case StatementForm::json: return "json";
  }
  throw InternalError("a form of statements without a name");
}

StatementForm form_of_file(const std::string& path) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return StatementForm::registry;
  if (path.ends_with(".json")) return StatementForm::json;
  return StatementForm::markdown;
}

std::string written(const PrivacyStatement& statement, StatementForm form) {
  switch (form) {
    case StatementForm::markdown: return statement.markdown();
    case StatementForm::registry: return registry_record(statement.facts);
    case StatementForm::checklist: return checklist(statement);
    case StatementForm::json: return json_text(statement);
  }
  throw InternalError("a form of statements without a writer");
}

}  // namespace sfumato
