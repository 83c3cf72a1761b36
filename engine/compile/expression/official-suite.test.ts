import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

const project = fileURLToPath(new URL('../../..', import.meta.url))
const folder = join(resolve(project, process.env['REVEILLE_TEST_DATA'] ?? '../shared'), 'jsonata-suite')

/** The intended differences, with their reasons. */
const differences: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['000', '001', '002', '003', '004', '005', '006', '007', '008'].map((number) => [
      `function-eval/case${number}`,
      '$eval is refused: an expression that comes with the payload would be a program from outside',
    ]),
  ),
  'flattening/large': 'a list that an expression makes holds 10,000 elements at most, and this has 200,000',
  'range-operator/case021': 'the same, and this has ten million',
  'range-operator/case024': 'the same, and this has ten million',
  'tail-recursion/case005':
    'endless recursion ends with the code D1011; the suite expects that of its own runner',
  'tail-recursion/case006':
    'an endless loop ends with the code D1012; the suite expects that of its own runner',
}

const suite = {
  skip: existsSync(folder) ? false : 'the official suite is not at hand; suite.txt is our own',
  timeout: 120_000,
}

test(
  'each expression of the official suite has its result, but for the intended differences',
  suite,
  async (t) => {
    // The test runner follows every promise, which makes evaluating several times slower. It does not follow those of a
    // worker.
    const worker = new Worker(new URL('./official-suite-fixture.ts', import.meta.url), { workerData: folder })
    t.after(() => worker.terminate())
    const files = globSync('groups/*/*.json', { cwd: folder }).sort()
    assert.ok(files.length > 800)
    for (const file of files) {
      const name = file.slice('groups/'.length, -'.json'.length)
      if (Object.hasOwn(differences, name)) continue
      worker.postMessage(file)
      const [problem] = await once(worker, 'message')
      assert.equal(problem, undefined, name)
    }
  },
)

/** Expressions that are refused at load, because their result is never intended. */
const refusedAtLoad: Readonly<Record<string, RegExp>> = {
  'comparison-operators/case028': /no variable \$x/,
  'missing-paths/case005': /no variable \$fdsd/,
  'function-fromMillis/formatDateTime': /has its fields in brackets/,
  'function-tomillis/parseDateTime': /has its fields in brackets/,
  'transforms/case013': /a text in them holds for every element/,
}

test(
  'no expression of the official suite that gives a value is refused, except those whose result is never intended',
  suite,
  () => {
    for (const file of globSync('groups/*/*.json', { cwd: folder }).sort()) {
      const name = file.slice('groups/'.length, -'.json'.length)
      if (differences[name]?.includes('$eval')) continue
      const content: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'))
      for (const each of [content].flat() as readonly SuiteCase[]) {
        const { expr, bindings = {}, code, error } = each
        if (expr === undefined || code !== undefined || error !== undefined) continue
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
  },
)

interface SuiteCase {
  readonly expr?: string
  readonly bindings?: Readonly<Record<string, unknown>>
  readonly code?: string
  readonly error?: object
}
