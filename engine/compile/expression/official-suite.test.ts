import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

const project = fileURLToPath(new URL('../../..', import.meta.url))
const folder = join(resolve(project, process.env['REVEILLE_TEST_DATA'] ?? '../shared'), 'jsonata-suite')

/** Expressions that are refused at load, because their result is never intended. */
const refusedAtLoad: Readonly<Record<string, RegExp>> = {
  'comparison-operators/case028': /no variable \$x/,
  'missing-paths/case005': /no variable \$fdsd/,
  'function-fromMillis/formatDateTime': /has its fields in brackets/,
  'function-tomillis/parseDateTime': /has its fields in brackets/,
  'transforms/case013': /a text in them holds for every element/,
}

interface SuiteCase {
  readonly expr?: string
  readonly bindings?: Readonly<Record<string, unknown>>
  readonly code?: string
  readonly error?: object
}

// The library runs the suite itself. What expressions mean here is in suite.txt.
test('no expression of the official suite that gives a value is refused, except those whose result is never intended', {
  skip: existsSync(folder) ? false : 'the official suite is not at hand',
}, () => {
  const files = globSync('groups/*/*.json', { cwd: folder }).sort()
  assert.ok(files.length > 800)
  for (const file of files) {
    const name = file.slice('groups/'.length, -'.json'.length)
    const content: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    for (const { expr, bindings = {}, code, error } of [content].flat() as readonly SuiteCase[]) {
      if (expr === undefined || code !== undefined || error !== undefined || expr.includes('$eval')) continue
      try {
        compileExpression(expr)
      } catch (thrown) {
        assert.ok(thrown instanceof ExpressionSyntaxError, `${name}: ${String(thrown)}`)
        const [, variable = ''] = /\$(\w+)$/.exec(thrown.message) ?? []
        if (!(variable in bindings))
          assert.match(thrown.message, refusedAtLoad[name] ?? /^$/, `${name}: ${expr}`)
      }
    }
  }
})
