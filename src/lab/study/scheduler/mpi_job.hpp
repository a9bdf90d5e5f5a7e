#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lab/study/scheduler/run_study.hpp"
#include "sfumato/core/observer.hpp"

namespace sfumato::lab {

/// This process as one of a job of several: `mpirun -n N sfumato study run ...`.
///
/// Rank 0 owns the ledger. It hands groups out one by one to whoever is free and commits what comes
/// back; it also trains, in threads of its own beside the one that waits for messages, so that no core
/// is lost. The other ranks train what they are given. Nobody spins while waiting: messages are looked
/// for every few milliseconds. A rank that dies takes the job down, and what was committed stays.
///
/// Only one per process, made and used by one thread.
class MpiJob {
 public:
  /// Whether mpirun or srun started this process as one of several, by its environment.
  [[nodiscard]] static bool is_started();

  /// Joins the job.
  /// Throws   InvalidArgument if this build has no MPI, or if srun's processes do not know each other.
  MpiJob();
  /// Rank 0 sends the others home first.
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  [[nodiscard]] unsigned rank() const;
  [[nodiscard]] unsigned ranks() const;

  /// Rank 0: run_study() with the other ranks as helpers, each of `threads` threads.
  ///
  /// Throws   as run_study(); InvalidArgument with the rank for one that cannot read the study or its
  ///          data, or would compute other bits (build, instruction set or data differ).
  RunReport lead(const TrialRunner& runner, Ledger& ledger, unsigned threads, Observer& observer);

  /// Other ranks: trains what rank 0 gives until it sends everybody home. What goes wrong here, also in
  /// `make_runner`, is told to rank 0, which throws it.
  void serve(const std::function<std::unique_ptr<TrialRunner>()>& make_runner, unsigned threads,
             Observer& observer);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace sfumato::lab
