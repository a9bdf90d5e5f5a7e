#pragma once

/// Everything that callers may include, from the top down. docs/cpp.md begins with three programs.

// Questions and their answers: what the commands of the program ask.
#include "sfumato/answers/account/answer.hpp"
#include "sfumato/answers/account/question.hpp"
#include "sfumato/answers/account/release_fields.hpp"
#include "sfumato/answers/account/state.hpp"
#include "sfumato/answers/ask.hpp"
#include "sfumato/answers/audit/answer.hpp"
#include "sfumato/answers/audit/question.hpp"
#include "sfumato/answers/bound/answer.hpp"
#include "sfumato/answers/bound/question.hpp"
#include "sfumato/answers/design/answer.hpp"
#include "sfumato/answers/design/question.hpp"
#include "sfumato/answers/fit/answer.hpp"
#include "sfumato/answers/fit/question.hpp"
#include "sfumato/answers/problem/risk_questions.hpp"
#include "sfumato/answers/problem/sde_problem.hpp"
#include "sfumato/answers/quadratic/answer.hpp"
#include "sfumato/answers/quadratic/question.hpp"
#include "sfumato/answers/rows/answer.hpp"
#include "sfumato/answers/rows/question.hpp"
#include "sfumato/answers/rows/riskiest.hpp"
#include "sfumato/answers/study/run.hpp"
#include "sfumato/answers/study/status.hpp"

// Ledgers of trained models, and what they show.
#include "sfumato/study/ledger/identity.hpp"
#include "sfumato/study/ledger/ledger.hpp"
#include "sfumato/study/ledger/trial.hpp"
#include "sfumato/study/ledger_audit/ledger_audit.hpp"
#include "sfumato/study/ledger_audit/options.hpp"
#include "sfumato/study/ledger_audit/two_sided.hpp"
#include "sfumato/study/path_kl_risk.hpp"
#include "sfumato/study/proven_bounds.hpp"

// Private regressions.
#include "sfumato/fit/held_out.hpp"
#include "sfumato/fit/linear_model.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/fit/public_table.hpp"

// Lower bounds from scores of trained models.
#include "sfumato/audit/claim_check.hpp"
#include "sfumato/audit/claim_plan.hpp"
#include "sfumato/audit/guarantee.hpp"
#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/one_run.hpp"
#include "sfumato/audit/one_run_audit.hpp"
#include "sfumato/audit/runs_needed.hpp"
#include "sfumato/audit/score_audit.hpp"
#include "sfumato/audit/score_sample.hpp"

// Where to put the noise.
#include "sfumato/design/average_design.hpp"
#include "sfumato/design/budget.hpp"
#include "sfumato/design/design.hpp"
#include "sfumato/design/differences.hpp"
#include "sfumato/design/iterated_design.hpp"
#include "sfumato/design/minimax_design.hpp"

// What training reveals at most, whatever the data.
#include "sfumato/privacy/accounting/accountant.hpp"
#include "sfumato/privacy/accounting/calibrate.hpp"
#include "sfumato/privacy/accounting/clipping.hpp"
#include "sfumato/privacy/accounting/guarantee.hpp"
#include "sfumato/privacy/accounting/last_iterate.hpp"
#include "sfumato/privacy/accounting/release.hpp"

// What one output reveals.
#include "sfumato/privacy/classification_rows.hpp"
#include "sfumato/privacy/observation.hpp"
#include "sfumato/privacy/release_cost.hpp"
#include "sfumato/privacy/ridge_rows.hpp"
#include "sfumato/privacy/risk.hpp"
#include "sfumato/privacy/row_risk.hpp"

// Divergences and bounds between laws.
#include "sfumato/divergence/bound_method.hpp"
#include "sfumato/divergence/convexity_bounds.hpp"
#include "sfumato/divergence/gaussian_kl.hpp"
#include "sfumato/divergence/kl_bound.hpp"
#include "sfumato/divergence/monte_carlo.hpp"
#include "sfumato/divergence/pair_bounds.hpp"

// Problems and processes.
#include "sfumato/sde/contraction.hpp"
#include "sfumato/sde/diffusion.hpp"
#include "sfumato/sde/family/callable.hpp"
#include "sfumato/sde/law.hpp"
#include "sfumato/sde/ou_pair.hpp"
#include "sfumato/sde/problem/classification.hpp"
#include "sfumato/sde/problem/quadratic.hpp"
#include "sfumato/sde/problem/ridge.hpp"

// Documents of answers, and how they are shown.
#include "sfumato/report/claimed_text.hpp"
#include "sfumato/report/document.hpp"
#include "sfumato/report/figure.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/number.hpp"
#include "sfumato/report/table.hpp"
#include "sfumato/report/text.hpp"

// Foundations: claims, units, errors, matrices.
#include "sfumato/core/claim.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/known.hpp"
#include "sfumato/core/loss_scale.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/core/pair.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/data/adjacency.hpp"
#include "sfumato/data/column_coding.hpp"
#include "sfumato/data/memory_table.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/math/whitened_pair.hpp"
#include "sfumato/version.hpp"
