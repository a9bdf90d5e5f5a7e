// The other half of an option: what a build without MPI does. Its definitions take the place of those in
// the library.
#include "sfumato/study/scheduler/no_mpi_job.cpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sfumato/study/scheduler/mpi_job.hpp"
#include "unit/data/temp_dir.hpp"

namespace sfumato {
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

TEST(MpiJob, ABuildWithoutMpiSaysSo) {
  const std::string message = message_of<InvalidArgument>([] { const MpiJob job; });
  EXPECT_NE(message.find("this build has no MPI"), std::string::npos) << message;
  EXPECT_NE(message.find("`threads`"), std::string::npos) << message;
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
}  // namespace sfumato
