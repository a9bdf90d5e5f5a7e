#include "sfumato/report/typeset.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sfumato {
namespace {

std::string power(const std::string& base, const std::string& row) {
  return "<math><msup><mi>" + base + "</mi><mrow>" + row + "</mrow></msup></math>";
}

TEST(Typeset, GreekLettersSignsAndNumbers) {
  EXPECT_EQ(typeset_text("eps at delta = 1e-05"), "ε at δ = 10⁻⁵");
  EXPECT_EQ(typeset_text("mu >= 2.5e+07"), "μ ≥ 2.5·10⁷");
  EXPECT_EQ(typeset_text("KL(D||D') <= sqrt(KL/2)"), "KL(D‖D′) ≤ √(KL/2)");
  EXPECT_EQ(typeset_text("x <- x - 0.05 grad f(x)"), "x ← x - 0.05 ∇f(x)");
  EXPECT_EQ(typeset_text("the grad fell"), "the grad fell");
  EXPECT_EQ(typeset_html("50 % of"), "50\u00a0% of");
  EXPECT_EQ(typeset_text("the maximum auditable epsilon"), "the maximum auditable ε");
  EXPECT_EQ(typeset_text("Delta and Epsilon at the start"), "Delta and Epsilon at the start");
}

TEST(Typeset, PowersAndIndices) {
  EXPECT_EQ(typeset_text("S_1^2/x^2"), "S₁²/x²");
  EXPECT_EQ(typeset_text("s^T Sigma^{-1} s"), "sᵀ Σ⁻¹ s");
  EXPECT_EQ(typeset_text("e^-2At"), "e^-2At");  // there is no raised A: the text itself
  EXPECT_EQ(typeset_html("Sigma^-1"), power("Σ", "<mo>−</mo><mn>1</mn>"));
  EXPECT_EQ(typeset_html("e^-2At"), power("e", "<mo>−</mo><mn>2</mn><mi>A</mi><mi>t</mi>"));
  EXPECT_EQ(typeset_html("x_t"), "<math><msub><mi>x</mi><mrow><mi>t</mi></mrow></msub></math>");
  EXPECT_EQ(typeset_html("s'^2"), power("s", "<mo>′</mo><mn>2</mn>"));
}

TEST(Typeset, NamesAndCodeStayAsTheyAre) {
  for (const char* text :
       {"isotropic_per_layer", "--delta 3", "eps=3,delta=1e-05", "data/delta.csv", "a_b.toml",
        "betas and deltas", "1e-05x", "alphabet", "pulls^3"}) {
    EXPECT_EQ(typeset_text(text), text);
    EXPECT_EQ(typeset_html(text), text);
  }
}

TEST(Typeset, BackticksAreCode) {
  for (const char* text : {"`train.delta`", "`sfumato audit eps`", "one ` alone"}) {
    EXPECT_EQ(typeset_text(text), text);
  }
  EXPECT_EQ(typeset_html("(`zero_out`), eps"), "(<code>zero_out</code>), ε");
  EXPECT_EQ(typeset_html("`sfumato audit eps` and `<b>`"),
            "<code>sfumato audit eps</code> and <code>&lt;b&gt;</code>");
  EXPECT_EQ(typeset_html("one ` alone"), "one ` alone");
}

TEST(Typeset, SignsOfSentences) {
  EXPECT_EQ(typeset_text("R^2 ~ 0.786 +- 0.44"), "R² ~ 0.786 ± 0.44");
  EXPECT_EQ(typeset_text("dX = -grad f(X) dt, 1/2 x^T A x - pull^T x"),
            "dX = -∇f(X) dt, 1/2 xᵀ A x - pullᵀ x");
  EXPECT_EQ(typeset_text("a grad student"), "a grad student");
}

TEST(Typeset, EscapesMarkupAndKeepsOtherScripts) {
  EXPECT_EQ(typeset_html("<b> & 'x\""), "&lt;b&gt; &amp; &#39;x&quot;");
  EXPECT_EQ(typeset_html("Größe ≤ 日本"), "Größe ≤ 日本");
  EXPECT_EQ(typeset_html("a\x1b[31m\xe2\x80\xae"), "a\\x1b[31m\\u{202e}");
  for (const char* odd :
       {"", "^", "_", "x^", "x_", "x^{", "e^{}", "|^", "'", "^2", "x^_", "1e", "eps_"}) {
    EXPECT_EQ(typeset_text(odd), odd);
  }
}

}  // namespace
}  // namespace sfumato
