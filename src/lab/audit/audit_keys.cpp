#include "lab/audit/audit_keys.hpp"

namespace sfumato::lab {

ClaimedGuarantee read_claim(const TomlTable& table, const std::string& key) {
  const std::string text = table.string(key);
  if (const auto claim = parse_guarantee(text)) return *claim;
  throw InvalidArgument(fmt::format("{} is not of the form eps=1.0,delta=1e-5, with eps finite and "
                                    "at least 0, delta at least 0 and below 1",
                                    toml_text(text)),
                        "", table.where(key));
}

keys::Choices<ThresholdStrategy> strategy_choices() {
  using enum ThresholdStrategy;
  return keys::by_name<ThresholdStrategy>({combined, held_out, ranks, fixed});
}

}  // namespace sfumato::lab
