import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

/** Source, offset, the texts of message and hint. */
const refused: readonly (readonly [string, number, RegExp])[] = [
  ['$contains(a, /x(?=y)/)', 15, /lookahead is not supported.*group/s],
  ['$match(a, /(a)\\1/i)', 14, /backreference/],
  ['$contains(a, /b/) or $contains(a, /b(?<!x)/)', 36, /lookbehind/],
  ['$contains(a, /(?<!x)b/) ?: "none"', 14, /lookbehind/],
  ['$contains(a, /[z-a]/)', 13, /regular expression/i],
  ['a.$eval("1")', 2, /\$eval is not allowed/],
  ['1 +', 3, /end of expression/],
]

for (const [source, offset, what] of refused) {
  test(`${source} is refused at its place`, () => {
    assert.throws(
      () => compileExpression(source, 100),
      (error) => {
        assert.ok(error instanceof ExpressionSyntaxError)
        assert.match(`${error.message} ${error.hint}`, what)
        assert.equal(error.offset - 100, offset)
        return true
      },
    )
  })
}
