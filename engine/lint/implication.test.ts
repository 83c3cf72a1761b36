import assert from 'node:assert/strict'
import { parse } from 'yaml'
import { testBlocks } from '../config/blocks-fixture.ts'
import { impliesMatch, readClauses } from './implication.ts'

/** Under a title, with the key that the sides are values of: what is given, `⇒` what it implies or `⇏` what it does not. */
const cases = `
# equal and narrower values are implied, others are not @ body
x ⇒ x
x ⇒ [y, x]
[x, y] ⇒ [y, z, x]
[x, y] ⇏ x
1 ⇏ "1"

# a value passes the operators that hold for it @ body
refs/tags/v1 ⇒ { prefix: refs/tags/ }
refs/tags/v1 ⇒ { suffix: v1, anything-but: main, exists: true }
v12 ⇒ { pattern: "^v[0-9]+$" }
15 ⇒ { numeric: [">", 10, "<=", 20] }
"15" ⇏ { numeric: [">", 10] }
x ⇏ { exists: false }

# an operator implies the same one @ body
{ prefix: a } ⇒ { prefix: a }
{ anything-but: [a, b] } ⇒ { anything-but: [a, b] }
{ numeric: [">=", 10] } ⇏ { numeric: [">", 10] }
{ anything-but: a } ⇏ { anything-but: [a, b] }

# every test of a value implies that the value exists; keys that may all be absent do not @ body
x ⇒ { exists: true }
{ prefix: x } ⇒ { exists: true }
{ b: { exists: false } } ⇏ { exists: true }
[{ exists: false }, x] ⇏ { exists: true }

# all wanted keys must be implied, each by its own
{ body: { a: { b: 1, c: 2 } } } ⇒ { body: { a: { b: 1 } } }
{ body: { a: { b: 1 } } } ⇏ { body: { a: { b: 1, c: 2 } } }
{ source: s, body: { a: 1 } } ⇒ { body: { a: 1, source: [s, t] } }
{ body: { source: s } } ⇏ { source: s }

# an expression is implied by the same text only, and never where it is random
{ when: a = 1 } ⇒ { when: "{% a = 1 %}" }
{ when: a = 1 } ⇏ { when: 1 = a }
{} ⇏ { when: a = 1 }
{ when: $random() < 0.5 } ⇏ { when: $random() < 0.5 }

# a path covers the paths that its parameters fit, and no path covers all
{ path: a } ⇒ {}
{ path: a/b } ⇒ { path: "a/:x" }
{ path: "a/:y" } ⇒ { path: ":z/:x" }
{ path: "a/:y" } ⇏ { path: a/b }
{ path: a/b } ⇏ { path: ":x" }
{} ⇏ { path: a }

# a header implies those that its every value satisfies @ headers
push ⇒ [push, ping]
[push, ping] ⇒ { exists: true }
push ⇒ { pattern: ^pu }
[push, ping] ⇏ push
{ exists: true } ⇏ { pattern: ^pu }
push ⇏ { exists: false }

# where nothing is given of a header, it may be there
{} ⇏ { headers: { h: { exists: false } } }
`

testBlocks(cases, (row, _context, key) => {
  const [, given = '', sign, wanted = ''] = /^(.*) ([⇒⇏]) (.*)$/.exec(row) ?? []
  const [one, other] = [given, wanted].map((text) =>
    readClauses(key === undefined ? parse(text) : { [key]: { a: parse(text) } }),
  )
  assert.ok(one && other)
  assert.equal(impliesMatch(one, other), sign === '⇒', row)
})
