#pragma once

#include <vector>

#include "sfumato/account/account_answer.hpp"

namespace sfumato {

/// How other tools account for the same run, where that gives another rate or another number of steps, and what another sampler would give.
[[nodiscard]] std::vector<OtherAccount> other_accounts(const AccountQuestion& question,
                                                       const Accountant& accountant, Delta delta);

}  // namespace sfumato
