import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileExpression } from './compile-expression.ts'

/** Pairs conditions with the equalities that a request must satisfy for them to be true. */
const conditions = `
action = "opened" ⇒ body action: ["opened"]
"opened" = payload.action ⇒ body action: ["opened"]
action in ["opened", "closed"] ⇒ body action: ["opened","closed"]
"bug" in labels.name ⇒ body labels.name: ["bug"]
a = 1 and (b = true and $$.c = null) ⇒ body a: [1] & body b: [true] & body c: [null]
headers.\`x-kind\` = "push" and a != 1 and b = 2 ⇒ header x-kind: ["push"] & body b: [2]
a = 1 and $number(b) > 2 and c = 3 ⇒ body a: [1]`
const without = `$number(b) > 2 and c = 3 ¦ a = 1 or b = 2 ¦ a != 1 ¦ a = b ¦ a = ["x"] ¦ a = [] ¦ a[0] = "x" ¦ a[] = "x" ¦
  a.$string(b) = "x" ¦ query.a = "x" ¦ id = "9007199254740993" ¦ a = 1 ? true : false`

for (const row of [...conditions.trim().split('\n'), ...without.split(/ ¦\s+/).map((each) => `${each} ⇒ `)])
  test(`${row} are the equalities that are necessary for it to be true`, () => {
    const [source = '', expected] = row.split(' ⇒ ')
    const found = compileExpression(source).equalities.map(
      ({ part, path, values }) => `${part} ${path.join('.')}: ${JSON.stringify(values)}`,
    )
    assert.equal(found.join(' & '), expected)
  })
