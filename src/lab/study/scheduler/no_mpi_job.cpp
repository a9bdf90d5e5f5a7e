// The job of several processes in a build without MPI: it says so.
#include "lab/study/scheduler/mpi_job.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {

class MpiJob::Implementation {};

MpiJob::MpiJob() {
  throw InvalidArgument("this build has no MPI, but was started as one of several processes",
                        "Start one process with several `threads`, or build where mpi.h is found "
                        "(Debian: libopenmpi-dev)",
                        Where::in("study run"));
}
MpiJob::~MpiJob() = default;

unsigned MpiJob::rank() const { return 0; }
unsigned MpiJob::ranks() const { return 1; }

RunReport MpiJob::lead(const TrialRunner&, Ledger&, unsigned, Observer&) {
  throw InternalError("a job without MPI");
}
void MpiJob::serve(const std::function<std::unique_ptr<TrialRunner>()>&, unsigned, Observer&) {
  throw InternalError("a job without MPI");
}

}  // namespace sfumato::lab
