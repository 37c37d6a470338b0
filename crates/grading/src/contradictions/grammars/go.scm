((function_declaration name: (identifier) @name body: (block) @body) @test
  (#match? @name "^Test"))

; if got := f(2); got != 4 { t.Errorf("f(2) = %d", got) }
(if_statement condition: (_) @fails
  consequence: (block (statement_list (expression_statement (call_expression
    function: (selector_expression field: (field_identifier) @_failing)
    arguments: (argument_list) @message))))
  (#match? @_failing "^(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$")) @at
; if !reflect.DeepEqual(got, want) { t.Fatal(got) }
(if_statement condition: (unary_expression operator: "!"
    operand: (call_expression function: (_) @_called arguments: (argument_list) @sides))
  consequence: (block (statement_list (expression_statement (call_expression
    function: (selector_expression field: (field_identifier) @_failing)))))
  (#match? @_called "^(reflect\\.DeepEqual|(cmp|bytes|slices|maps)\\.Equal)$")
  (#match? @_failing "^(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$")) @at
; if diff := cmp.Diff(want, got); diff != "" { t.Error(diff) }
(if_statement
  initializer: (short_var_declaration right: (expression_list (call_expression
    function: (_) @_called arguments: (argument_list) @sides)))
  consequence: (block (statement_list (expression_statement (call_expression
    function: (selector_expression field: (field_identifier) @_failing)))))
  (#eq? @_called "cmp.Diff")
  (#match? @_failing "^(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$")) @at

; assert.Equal(t, 4, f(2)) and is.Equal(4, f(2)), of testify
(call_expression function: (selector_expression operand: (identifier) @_package field: (field_identifier) @_called)
  arguments: (argument_list) @sides
  (#any-of? @_package "assert" "require" "is")
  (#match? @_called "^(Equal|Exactly|EqualValues|EqualError|JSONEq|Len)f?$")) @at
(call_expression function: (selector_expression operand: (identifier) @_package field: (field_identifier) @_called)
  arguments: (argument_list) @truths
  (#any-of? @_package "assert" "require" "is")
  (#match? @_called "^Truef?$")) @at

; expected := 4
(short_var_declaration left: (expression_list . (identifier) @local .) right: (expression_list . (_) @value .))
(var_spec name: (identifier) @local value: (expression_list . (_) @value .))
(const_spec name: (identifier) @local value: (expression_list . (_) @value .))

; for _, tt := range tests { t.Run(tt.name, func(t *testing.T) { … }) }
(for_statement (range_clause right: (_) @over)) @through
(call_expression function: (selector_expression field: (field_identifier) @_run)
  arguments: (argument_list (func_literal) @inner)
  (#eq? @_run "Run")) @through
