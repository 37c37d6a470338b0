; Tests. Those that draw their inputs (proptest, quickcheck) are none.
((attribute_item (attribute [(identifier) (scoped_identifier)] @_kind))
  . [(attribute_item) (line_comment) (block_comment)]*
  . (function_item name: (identifier) @name body: (block) @body) @test
  (#match? @_kind "(^|::)(test|rstest|test_case)$"))

; assert_eq!(f(2), 4)
(macro_invocation macro: (_) @_called (token_tree) @sides
  (#match? @_called "(^|::)(debug_)?assert_(str_)?eq$")) @at

; assert!(f(2) == 4 && g())
(macro_invocation macro: (_) @_called (token_tree) @truths
  (#match? @_called "(^|::)(debug_)?assert$")) @at

; #[should_panic(expected = "text")]
(attribute (identifier) @_kind (#eq? @_kind "should_panic")) @panics
(attribute (identifier) @_kind arguments: (token_tree (string_literal) @panics.with)
  (#eq? @_kind "should_panic"))

; let expected = 4;
(let_declaration pattern: (identifier) @local value: (_) @value)
(const_item name: (identifier) @local value: (_) @value)

; for (input, expected) in [(1, 2), (2, 4)] { … }
(for_expression pattern: (_) @row value: (_) @over) @through
