#include "sfumato/data/covariance_file.hpp"

#include <gtest/gtest.h>

#include "sfumato/data/npy.hpp"
#include "sfumato/data/npz.hpp"
#include "support/temp_dir.hpp"

namespace sfumato {
namespace {

Eigen::MatrixXd spd() {
  Eigen::MatrixXd m(2, 2);
  m << 2, 0.5, 0.5, 1;
  return m;
}

std::string refusal(const std::string& path, Eigen::Index expected = 0) {
  return message_of<InvalidArgument>([&] { (void)read_covariance(path, expected); });
}

TEST(CovarianceFile, VectorsAndMatrices) {
  const TempDir dir;
  put(dir / "diagonal.csv", "variance\n1\n4\n");
  put(dir / "dense.csv", "2,0.5\n0.5,1\n");
  write_npy(dir / "diagonal.npy", vector_array(Eigen::Vector2d(1, 4)));
  write_npy(dir / "dense.npy", matrix_array(spd()));
  write_npy(dir / "number.npy", scalar_array(0.25));
  for (const char* name : {"diagonal.csv", "diagonal.npy"}) {
    const Covariance c = read_covariance(dir / name, 2).covariance;
    ASSERT_TRUE(std::holds_alternative<Diagonal>(c)) << name;
    EXPECT_EQ(std::get<Diagonal>(c).variances, Eigen::Vector2d(1, 4));
  }
  for (const char* name : {"dense.csv", "dense.npy"}) {
    const Covariance c = read_covariance(dir / name).covariance;
    ASSERT_TRUE(std::holds_alternative<Dense>(c)) << name;
    EXPECT_EQ(std::get<Dense>(c).matrix, spd());
  }
  const Covariance number = read_covariance(dir / "number.npy", 3).covariance;
  EXPECT_EQ(dense(number), 0.25 * Eigen::MatrixXd::Identity(3, 3));
  EXPECT_NE(refusal(dir / "number.npy").find("leaves the dimension open"), std::string::npos);
  EXPECT_EQ(refusal(dir / "dense.npy", 3),
            (dir / "dense.npy") +
                ": the covariance has dimension 2, the problem has 3. "
                "Give one variance per parameter.");
}

TEST(CovarianceFile, ArchivesComeBackInTheirForm) {
  const TempDir dir;
  Eigen::MatrixXd factor(3, 1);
  factor << 1, -2, 0.1;
  const std::vector<Covariance> all = {
      Isotropic{0.1, 3}, Diagonal{Eigen::Vector3d(0, 1, 2)},
      Factored{Eigen::Vector3d(1, 0.1, 2), factor},
      Dense{Eigen::MatrixXd(Eigen::Vector3d(1, 2, 3).asDiagonal())}};
  for (const Covariance& covariance : all) {
    write_covariance(dir / "c.npz", {covariance, {{"command", "design \"a\" \xE9"}}});
    const CovarianceFile back = read_covariance(dir / "c.npz", 3);
    EXPECT_EQ(back.covariance.index(), covariance.index());
    EXPECT_EQ(dense(back.covariance), dense(covariance));
    EXPECT_TRUE(back.provenance.at("command").starts_with("design \"a\" "));
  }
  // A factor without columns has no file form; the same matrix is a diagonal.
  write_covariance(dir / "c.npz", {Factored{Eigen::Vector3d(1, 2, 3), Eigen::MatrixXd(3, 0)}});
  EXPECT_TRUE(std::holds_alternative<Diagonal>(read_covariance(dir / "c.npz").covariance));
}

TEST(CovarianceFile, ArchivesFromNumPyNeedNoMeta) {
  const TempDir dir;
  run_numpy(dir, R"(
np.savez('iso.npz', variance=2.0, dim=4)
np.savez_compressed('diagonal.npz', variances=np.ones(4))
np.savez('factored.npz', diagonal=np.ones(4), factor=np.ones((4, 2)))
np.savez('dense.npz', matrix=np.eye(4))
)");
  EXPECT_EQ(dense(read_covariance(dir / "iso.npz", 4).covariance),
            2.0 * Eigen::MatrixXd::Identity(4, 4));
  for (const char* name : {"diagonal.npz", "dense.npz"}) {
    EXPECT_EQ(dense(read_covariance(dir / name, 4).covariance), Eigen::MatrixXd::Identity(4, 4))
        << name;
  }
  EXPECT_EQ(trace(read_covariance(dir / "factored.npz", 4).covariance), 12.0);
}

TEST(CovarianceFile, RefusesOtherForms) {
  const TempDir dir;
  const std::string path = dir / "c.npz";
  const auto of = [&](const std::vector<std::pair<std::string, Array>>& arrays,
                      const std::string& meta = "") {
    NpzWriter writer;
    for (const auto& [name, array] : arrays) writer.add(name, array);
    if (!meta.empty()) writer.add_text("meta", meta);
    writer.write(path);
    return refusal(path).substr(path.size());
  };
  const Array ones = vector_array(Eigen::Vector2d::Ones());
  EXPECT_EQ(of({{"sigma", ones}}),
            ": holds the arrays \"sigma\", which are no form of a covariance. Give `variance` and "
            "`dim`, `variances`, `diagonal` and `factor`, or `matrix`.");
  EXPECT_NE(
      of({{"variances", ones}, {"matrix", matrix_array(spd())}}).find("no form of a covariance"),
      std::string::npos);
  EXPECT_NE(of({{"variance", scalar_array(1)}}).find("no form of a covariance"), std::string::npos);
  EXPECT_EQ(of({{"matrix", ones}}), ": `matrix` has shape (2,). Give a matrix.");
  EXPECT_NE(of({{"variance", scalar_array(1)}, {"dim", scalar_array(1.5)}})
                .find("`dim` = 1.5 is not a dimension"),
            std::string::npos);
  EXPECT_NE(of({{"variance", scalar_array(1)}, {"dim", scalar_array(0)}}).find("`dim` = 0"),
            std::string::npos);
  EXPECT_NE(of({{"variances", vector_array(Eigen::Vector2d(1, -1))}}).find("variance"),
            std::string::npos);
  EXPECT_NE(of({{"diagonal", ones}, {"factor", matrix_array(Eigen::MatrixXd::Ones(3, 1))}})
                .find("factor of 3 rows"),
            std::string::npos);
  EXPECT_NE(of({{"variances", ones}}, "[1]").find("`meta` is not a JSON object"),
            std::string::npos);
  EXPECT_NE(of({{"variances", ones}}, "{not json").find("`meta` is not a JSON object"),
            std::string::npos);
  EXPECT_EQ(of({{"variances", ones}}, R"({"form": "dense", "dimension": 2})"),
            ": `meta` has \"\\\"dense\\\"\" form, the arrays have \"diagonal\". Write the file "
            "again: its "
            "parts do not belong together.");
  EXPECT_NE(of({{"variances", ones}}, R"({"form": "diagonal", "dimension": 3})").find("dimension"),
            std::string::npos);
  EXPECT_NE(of({{"variances", ones}}, R"({"form": "diagonal"})").find("`meta` has no dimension"),
            std::string::npos);
  EXPECT_NE(of({{"variances", ones}}, R"({"form": "diagonal", "dimension": 2, "provenance": 3})")
                .find("provenance"),
            std::string::npos);
}

TEST(CovarianceFile, RefusesWhatIsNoCovariance) {
  const TempDir dir;
  put(dir / "indefinite.csv", "1,2\n2,1\n");
  put(dir / "skew.csv", "1,0.5\n0.4,1\n");
  put(dir / "wide.csv", "1,2,3\n4,5,6\n");
  EXPECT_NE(refusal(dir / "indefinite.csv").find("smallest eigenvalue is -1"), std::string::npos);
  EXPECT_NE(refusal(dir / "skew.csv").find("not symmetric"), std::string::npos);
  EXPECT_NE(refusal(dir / "wide.csv").find("not a square matrix"), std::string::npos);
  EXPECT_NE(refusal(dir / "c.txt").find("is not called .npz, .npy or .csv"), std::string::npos);
  EXPECT_NE(refusal(dir / "c.npz").find("there is no such file"), std::string::npos);
}

TEST(CovarianceFile, WritingFails) {
  const TempDir dir;
  EXPECT_THROW(write_covariance(dir / "c.npy", {Isotropic{1, 2}}), InvalidArgument);
  EXPECT_THROW(write_covariance(dir / "c.npz", {Isotropic{-1, 2}}), InvalidArgument);
  EXPECT_THROW(write_covariance(dir / "none/c.npz", {Isotropic{1, 2}}), StorageError);
}

TEST(CovarianceFile, LargeArraysOfAnotherProblemAreNotDecompressed) {
  const TempDir dir;
  const auto damaged = [&](const std::string& name) {
    NpzWriter writer;
    writer.add(name, vector_array(Eigen::VectorXd::Zero(1 << 20)));
    std::string bytes = writer.bytes();
    const std::size_t middle = bytes.find("PK\x01\x02") / 2;
    bytes[middle] = static_cast<char>(bytes[middle] ^ 0x55);  // whoever inflates it notices
    put(dir / "c.npz", bytes);
    return dir / "c.npz";
  };
  EXPECT_NE(refusal(damaged("zeros")).find("no form of a covariance"), std::string::npos);
  EXPECT_NE(refusal(damaged("variances"), 3).find("has dimension 1048576, the problem has 3"),
            std::string::npos);
  EXPECT_NE(refusal(damaged("variances")).find("damaged archive"), std::string::npos);
}

}  // namespace
}  // namespace sfumato
