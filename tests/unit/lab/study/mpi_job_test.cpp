#include "lab/study/scheduler/mpi_job.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sfumato::lab {
namespace {

void set_all(const char* value) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
}

TEST(MpiJob, IsStartedByTheEnvironmentOfSeveral) {
  set_all(nullptr);
  EXPECT_FALSE(MpiJob::is_started());
  set_all("1");
  EXPECT_FALSE(MpiJob::is_started());  // mpirun -n 1 is no job of several
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    set_all(nullptr);
    setenv(name, "3", 1);
    EXPECT_TRUE(MpiJob::is_started()) << name;
  }
  set_all(nullptr);
}

}  // namespace
}  // namespace sfumato::lab
