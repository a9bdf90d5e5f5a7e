#pragma once

#include "sfumato/account/account_answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// Epsilon by method: proven from above and below, as others compute it.
[[nodiscard]] Table methods_table(const AccountAnswer& answer, const AccountedSetting& setting,
                                  Detail detail);
/// What the best attacker can do.
[[nodiscard]] Table attacker_table(const AccountedSetting& setting, Detail detail);
/// One row per noise multiplier that is compared.
[[nodiscard]] Table settings_table(const AccountAnswer& answer);
[[nodiscard]] Table deltas_table(const AccountAnswer& answer);
[[nodiscard]] Table others_table(const AccountAnswer& answer);
[[nodiscard]] Table releases_table(const AccountAnswer& answer);

/// mu with its regret.
[[nodiscard]] Table gdp_table(const AccountAnswer& answer);
[[nodiscard]] Table baselines_table(const AccountAnswer& answer);
/// What each part of the run contributes, as a table and as columns.
[[nodiscard]] Table parts_table(const AccountAnswer& answer);
[[nodiscard]] Figure parts_figure(const AccountAnswer& answer);

/// The best attack's rates, on log-log axes.
[[nodiscard]] Figure trade_off_figure(const AccountAnswer& answer);
/// Epsilon as training goes on.
[[nodiscard]] Figure steps_figure(const AccountAnswer& answer);

}  // namespace sfumato
