// The other half of an option: what a build without MPI does. Its definitions are given another name beside those of the library.
#define MpiJob JobWithoutMpi
#include "lab/study/scheduler/no_mpi_job.cpp"
#undef MpiJob

#include <gtest/gtest.h>

#include "support/temp_dir.hpp"

namespace sfumato::lab {
namespace {

TEST(JobWithoutMpi, SaysSo) {
  const std::string message = message_of<InvalidArgument>([] { const JobWithoutMpi job; });
  EXPECT_NE(message.find("this build has no MPI"), std::string::npos) << message;
  EXPECT_NE(message.find("`threads`"), std::string::npos) << message;
}

}  // namespace
}  // namespace sfumato::lab
