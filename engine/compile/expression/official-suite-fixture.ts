/** Runs a file of the official suite outside of the test runner, and answers with its failures. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import { createLibraryExpression } from './evaluate.ts'
import { evaluationError } from './failure.ts'

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

const folder: string = workerData

parentPort?.on('message', async (file: string) => {
  parentPort?.postMessage(await problemOf(file))
})

async function problemOf(file: string): Promise<string | undefined> {
  try {
    const content = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case | Case[]
    for (const each of Array.isArray(content) ? content : [content]) await check(each, file)
    return undefined
  } catch (error) {
    return inspect(error)
  }
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

/** Evaluates as `compileExpression` does, with any data as the root. The suite does not test times. */
async function evaluate(source: string, data: unknown, bindings: object): Promise<unknown> {
  try {
    return await createLibraryExpression(source, undefined, { maxMs: Number.POSITIVE_INFINITY })(
      data,
      { ...bindings },
      Date.UTC(2026, 0, 2),
    )
  } catch (cause) {
    const parsing = (cause as { cause?: { code?: string } }).cause?.code
    if (parsing !== undefined) throw Object.assign(new Error('cannot be read'), { code: parsing })
    throw evaluationError(cause, source, 0)
  }
}
