#pragma once

/// Everything that callers may include, from the top down. docs/cpp.md begins with three programs.

// Questions and their answers: what the commands of the program ask.
#include "sfumato/account/account_answer.hpp"
#include "sfumato/account/account_question.hpp"
#include "sfumato/account/accountant/release_fields.hpp"
#include "sfumato/account/state.hpp"
#include "sfumato/account/statement_forms.hpp"
#include "sfumato/bound/bound_answer.hpp"
#include "sfumato/bound/bound_question.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/design/design_answer.hpp"
#include "sfumato/design/design_question.hpp"
#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/fit/fit_question.hpp"
#include "sfumato/lab/audit/audit_answer.hpp"
#include "sfumato/lab/audit/audit_question.hpp"
#include "sfumato/lab/study/run_answer.hpp"
#include "sfumato/lab/study/study_status.hpp"
#include "sfumato/problem/risk_questions.hpp"
#include "sfumato/problem/sde_problem.hpp"
#include "sfumato/quadratic/quadratic_answer.hpp"
#include "sfumato/quadratic/quadratic_question.hpp"
#include "sfumato/rows/riskiest.hpp"
#include "sfumato/rows/rows_answer.hpp"
#include "sfumato/rows/rows_question.hpp"

// Ledgers of trained models, and what they show.
#include "sfumato/lab/audit/ledger_audit.hpp"
#include "sfumato/lab/audit/options.hpp"
#include "sfumato/lab/audit/two_sided.hpp"
#include "sfumato/lab/ledger/identity.hpp"
#include "sfumato/lab/ledger/ledger.hpp"
#include "sfumato/lab/ledger/trial.hpp"
#include "sfumato/lab/study/path_kl_risk.hpp"
#include "sfumato/lab/study/proven_bounds.hpp"

// Private regressions.
#include "sfumato/fit/held_out.hpp"
#include "sfumato/fit/linear_model.hpp"
#include "sfumato/fit/noise_mode.hpp"
#include "sfumato/fit/plan.hpp"
#include "sfumato/fit/public_table.hpp"

// Lower bounds from scores of trained models.
#include "sfumato/audit/claim_check.hpp"
#include "sfumato/audit/claim_plan.hpp"
#include "sfumato/audit/lower_bounds.hpp"
#include "sfumato/audit/one_run.hpp"
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
#include "sfumato/account/accountant/accountant.hpp"
#include "sfumato/account/accountant/calibrate.hpp"
#include "sfumato/account/accountant/clipping.hpp"
#include "sfumato/account/accountant/correlated_noise.hpp"
#include "sfumato/account/accountant/gdp_summary.hpp"
#include "sfumato/account/accountant/guarantee.hpp"
#include "sfumato/account/accountant/last_iterate.hpp"
#include "sfumato/account/accountant/normaliser.hpp"
#include "sfumato/account/accountant/release.hpp"
#include "sfumato/account/accountant/tuning.hpp"

// What one output reveals.
#include "sfumato/risk/observation.hpp"
#include "sfumato/risk/risk.hpp"
#include "sfumato/rows/classification_rows.hpp"
#include "sfumato/rows/release_cost.hpp"
#include "sfumato/rows/ridge_rows.hpp"
#include "sfumato/rows/row_risk.hpp"

// Divergences and bounds between distributions.
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
#include "sfumato/sde/gaussian_distribution.hpp"
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
#include "sfumato/report/sentence.hpp"
#include "sfumato/report/table.hpp"
#include "sfumato/report/text.hpp"

// Foundations: claims, units, errors, matrices.
#include "sfumato/core/claim.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/core/loss_scale.hpp"
#include "sfumato/core/pair.hpp"
#include "sfumato/core/units.hpp"
#include "sfumato/core/verdict.hpp"
#include "sfumato/data/adjacency.hpp"
#include "sfumato/data/column_coding.hpp"
#include "sfumato/data/memory_table.hpp"
#include "sfumato/math/covariance.hpp"
#include "sfumato/math/interval.hpp"
#include "sfumato/math/whitened_pair.hpp"
#include "sfumato/version.hpp"
