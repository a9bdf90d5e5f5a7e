#pragma once

#include "sfumato/answers/account/answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// The epsilon first, then what it means for an attacker and what it rests on; in full also by method, with the trade-off curve and the
/// privacy statement.
[[nodiscard]] Document document_of(const AccountAnswer& answer, Detail detail);

/// The statement for a model card, of the first setting.
/// Throws   InvalidArgument if no finite epsilon is proven.
[[nodiscard]] std::string statement_of(const AccountAnswer& answer);

}  // namespace sfumato
