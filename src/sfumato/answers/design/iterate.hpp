#pragma once

#include "sfumato/answers/design/question.hpp"
#include "sfumato/core/observer.hpp"
#include "sfumato/data/covariance_file.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato {

/// What an iterated design came to.
struct IterationAnswer {
  Document document;
  CovarianceFile noise;
};

/// `sfumato design --problem`: reads the problem file and the options, iterates (Spec §9.5) and says
/// what each round achieved.
///
/// Throws   InvalidArgument for options that do not go with --problem; InvalidArgument as
///          read_bound_problem and for a problem whose noise is not free; as iterate_design.
[[nodiscard]] IterationAnswer iterate_on_problem(const DesignOptions& options, Observer& observer);

}  // namespace sfumato
