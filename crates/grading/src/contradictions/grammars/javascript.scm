; Tests of jest, vitest, mocha, node:test, tape, ava and their kin.
(call_expression function: (_) @_called
  arguments: (arguments . [(string) (template_string)] @name
    [(arrow_function) (function_expression)] @body .)
  (#match? @_called "^(\\w+\\.)*(test|it|specify|tape)(\\.(only|serial|concurrent))?$")) @test
(call_expression
  function: (call_expression function: (_) @_called arguments: (arguments . (_) @over))
  arguments: (arguments . [(string) (template_string)] @name
    [(arrow_function parameters: (_) @row) (function_expression parameters: (_) @row)] @body .)
  (#match? @_called "^(\\w+\\.)*(test|it)\\.each$")) @test

; assert.equal(f(2), 4), t.deepEqual(f(2), [4]), assertEquals(f(2), 4)
(call_expression function: (_) @_called arguments: (arguments) @sides
  (#match? @_called "^(\\w+\\.)*(is|eq|eql|equals?|same|strictSame|strictEquals?|deepEquals?|deepStrictEqual|assert_?[eE]quals?|assertStrictEquals)$")) @at

; expect(f(2)).toBe(4), expect(f(2)).to.deep.equal([4]), f(2).should.equal(4)
(call_expression function: (member_expression) @_called arguments: (arguments . (_) @expected)
  (#match? @_called "(?s)^(chai\\.)?expect\\s*\\(.*\\)(\\s*\\.\\s*(to|be|have|deep|eventually|resolves|rejects))*\\s*\\.\\s*(toBe|toEqual|toStrictEqual|toHaveLength|toThrow|toThrowError|equals?|eql|eq|lengthOf|throws?)$")) @at
(call_expression function: (member_expression) @_called arguments: (arguments . (_) @expected)
  (#match? @_called "(?s)\\.should(\\.(be|have|deep|eventually))*\\.(equal|equals|eql|exactly|lengthOf|throw)$")) @at

; assert.throws(() => f(), /text/)
(call_expression function: (_) @_called arguments: (arguments . (_) . (regex) @expected)
  (#match? @_called "^(\\w+\\.)*(throws|rejects|match)$")) @at

; assert(f(2) === 4), t.ok(f(2))
(call_expression function: (_) @_called arguments: (arguments) @truths
  (#match? @_called "^(assert|(\\w+\\.)+(ok|true|truthy|assert|isTrue|isOk))$")) @at

; const expected = 4;
(variable_declarator name: (identifier) @local value: (_) @value)

; for (const [input, expected] of [[1, 2], [2, 4]]) { … }
(for_in_statement left: (_) @row right: (_) @over) @through
; [[1, 2], [2, 4]].forEach(([input, expected]) => { … })
(call_expression
  function: (member_expression object: (_) @over property: (property_identifier) @_each)
  arguments: (arguments
    . [(arrow_function parameters: (formal_parameters . (_) @row .))
       (function_expression parameters: (formal_parameters . (_) @row .))] @inner .)
  (#eq? @_each "forEach")) @through
