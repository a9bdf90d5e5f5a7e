#pragma once

#include <Eigen/Core>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <limits>

namespace sfumato {

/// Floating-point numbers of 50 and of 200 decimal digits, for what double precision cannot carry: a
/// column of 1e9 beside one of 1e-9 makes eigenvalues that are 1e36 apart.
using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                           boost::multiprecision::et_off>;
using Widest = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<200>,
                                             boost::multiprecision::et_off>;

}  // namespace sfumato

/// Traits that Eigen must know of a number type; Boost's own header does so for an older Eigen.
template <unsigned Digits>
struct Eigen::NumTraits<boost::multiprecision::number<boost::multiprecision::cpp_bin_float<Digits>,
                                                      boost::multiprecision::et_off>>
    : Eigen::GenericNumTraits<boost::multiprecision::number<
          boost::multiprecision::cpp_bin_float<Digits>, boost::multiprecision::et_off>> {
  using Self = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<Digits>,
                                             boost::multiprecision::et_off>;
  using Real = Self;
  using NonInteger = Self;
  using Nested = Self;
  using Literal = double;
  enum { IsComplex = 0, IsInteger = 0, IsSigned = 1, RequireInitialization = 1, ReadCost = 1 };
  enum { AddCost = 20, MulCost = 40 };
  static Real epsilon() { return std::numeric_limits<Self>::epsilon(); }
  static Real dummy_precision() { return 1000 * epsilon(); }
  static Real highest() { return (std::numeric_limits<Self>::max)(); }
  static Real lowest() { return -highest(); }
  static Real infinity() { return std::numeric_limits<Self>::infinity(); }
  static Real quiet_NaN() { return std::numeric_limits<Self>::quiet_NaN(); }
  static int digits10() { return Eigen::internal::default_digits10_impl<Self>::run(); }
};
