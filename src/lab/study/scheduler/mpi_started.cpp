#include <array>
#include <cstdlib>
#include <string>

#include "lab/study/scheduler/mpi_job.hpp"

namespace sfumato::lab {

bool MpiJob::is_started() {
  // Open MPI's mpirun; PMIx of any launcher; PMI of srun and others. A batch script of Slurm itself has
  // SLURM_PROCID too, but no step of tasks: there SLURM_STEP_NUM_TASKS is missing.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && std::atoi(value) > 1) return true;
  }
  return false;
}

}  // namespace sfumato::lab
