//! The formulas, in MathML: real text, readable by screen readers.

/// Equation 2, at or above the base.
pub(super) const CHANGE_ABOVE: &str = r#"<math display="block"><msub><mi>a</mi><mi>i</mi></msub><mo>=</mo><mfrac><mrow><msub><mi>n</mi><mi>i</mi></msub><mo>−</mo><msub><mi>n</mi><mn>0</mn></msub></mrow><mrow><msub><mi>n</mi><mo>*</mo></msub><mo>−</mo><msub><mi>n</mi><mn>0</mn></msub></mrow></mfrac><mtext>&#8195;if&#160;</mtext><msub><mi>n</mi><mi>i</mi></msub><mo>≥</mo><msub><mi>n</mi><mn>0</mn></msub></math>"#;

/// Equation 2, below the base.
pub(super) const CHANGE_BELOW: &str = r#"<math display="block"><msub><mi>a</mi><mi>i</mi></msub><mo>=</mo><mfrac><mrow><msub><mi>n</mi><mi>i</mi></msub><mo>−</mo><msub><mi>n</mi><mn>0</mn></msub></mrow><msub><mi>n</mi><mn>0</mn></msub></mfrac><mtext>&#8195;if&#160;</mtext><msub><mi>n</mi><mi>i</mi></msub><mo>&lt;</mo><msub><mi>n</mi><mn>0</mn></msub></math>"#;

/// Equation 3.
pub(super) const EVOSCORE: &str = r#"<math display="block"><mi>e</mi><mo>=</mo><mfrac displaystyle="true"><mrow displaystyle="true"><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>N</mi></munderover><msup><mi>γ</mi><mi>i</mi></msup><msub><mi>a</mi><mi>i</mi></msub></mrow><mrow displaystyle="true"><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>N</mi></munderover><msup><mi>γ</mi><mi>i</mi></msup></mrow></mfrac></math>"#;
