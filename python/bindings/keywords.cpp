#include "keywords.hpp"

namespace sfumato::python {

TomlTable table_of(const std::string& function, const std::string& file,
                   const std::vector<Keyword>& keywords) {
  std::vector<TomlOverride> overrides;
  for (const auto& [path, value, source, replaces] : keywords) {
    TomlOverride override;
    override.path = path;
    override.value = value;
    override.source = source;
    override.replaces = replaces;
    override.is_option = true;
    overrides.push_back(std::move(override));
  }
  return file.empty() ? TomlTable::parse("", function, overrides)
                      : TomlTable::read(file, overrides);
}

}  // namespace sfumato::python
