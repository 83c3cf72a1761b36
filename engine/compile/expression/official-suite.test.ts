import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { evaluationError } from './failure.ts'
import { withEvaluation } from './library.ts'
import { parseExpression } from './parse.ts'
import { makePlain } from './plain.ts'
import { createScheduler } from './scheduler.ts'

interface Case {
  readonly expr?: string
  readonly 'expr-file'?: string
  readonly data?: unknown
  readonly dataset?: string | null
  readonly bindings?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly undefinedResult?: boolean
  readonly code?: string
  readonly error?: { readonly code: string }
  readonly unordered?: boolean
}

const project = fileURLToPath(new URL('../../..', import.meta.url))
const folder = join(resolve(project, process.env['REVEILLE_TEST_DATA'] ?? '../shared'), 'jsonata-suite')
const absent = existsSync(folder) ? false : 'the official suite is not at hand'

/** Where we differ on purpose, and why. */
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

test('the official suite is at hand', { skip: absent }, () => {})

for (const file of absent === false ? globSync('groups/*/*.json', { cwd: folder }).sort() : []) {
  const name = file.slice('groups/'.length, -'.json'.length)
  test(`${name} of the official suite`, { skip: differences[name] }, async () => {
    const content = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case | Case[]
    for (const each of Array.isArray(content) ? content : [content]) await check(each, file)
  })
}

async function check(each: Case, file: string): Promise<void> {
  const place = dirname(join(folder, file))
  const source = each.expr ?? readFileSync(join(place, each['expr-file'] ?? ''), 'utf8')
  const answer = await evaluate(source, dataOf(each), each.bindings ?? {}).then(
    (value) => ({ value }),
    (error: { code?: string }) => ({ code: error.code, error }),
  )
  const wanted = each.code ?? each.error?.code
  if (wanted !== undefined) assert.equal('code' in answer && answer.code, wanted, source)
  else if ('code' in answer) throw answer.error
  else if (each.undefinedResult) assert.equal(answer.value, undefined, source)
  else assert.deepEqual(answer.value, each.result, source)
}

function dataOf({ data, dataset }: Case): unknown {
  if (typeof dataset !== 'string') return data
  return JSON.parse(readFileSync(join(folder, 'datasets', `${dataset}.json`), 'utf8'))
}

/** Time is not what the suite is about, and a test runner that follows every promise makes all of them slow. */
const evaluateInTurns = createScheduler({
  now: () => performance.now(),
  used: () => 0,
  afterOthers: (turn) => setImmediate(turn),
})

/** As `compileExpression` does, with any data as the root. */
async function evaluate(source: string, data: unknown, bindings: object): Promise<unknown> {
  try {
    const expression = parseExpression(source, 0)
    return await evaluateInTurns((turns) =>
      withEvaluation(turns, Date.UTC(2026, 0, 2), async (own) =>
        makePlain(await expression.evaluate(data, { ...bindings, ...own }), turns),
      ),
    )
  } catch (cause) {
    const parsing = (cause as { cause?: { code?: string } }).cause?.code
    if (parsing !== undefined) throw Object.assign(new Error('cannot be read'), { code: parsing })
    throw evaluationError(cause, source, 0)
  }
}
