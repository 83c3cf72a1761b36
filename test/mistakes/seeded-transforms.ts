/** Lists mistakes in transforms, and judges many in one folder: each command is run once for all mistakes with one code. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { type Seeded, sample } from './seeded-mappings.ts'

/** Modules for a mapping with a message, and the code of what is printed. */
export const inTransforms: Seeded = [
  ['export const x = 1', 'TRANSFORM_EXPORT_MISSING'],
  ['export default { message: "x" }', 'TRANSFORM_EXPORT_MISSING'],
  ['export default 5', 'TRANSFORM_EXPORT_MISSING'],
  ['', 'TRANSFORM_EXPORT_MISSING'],
  ['export defalt () => null', 'TRANSFORM_SOURCE'],
  ['export default (context) => ({ message: context.payload.title', 'TRANSFORM_SOURCE'],
  ['import { x } from "no-such-package"\nexport default () => x', 'TRANSFORM_IMPORT'],
  ['import { x } from "./nowhere.ts"\nexport default () => x', 'TRANSFORM_IMPORT'],
  ['import { x } from "../../elsewhere.ts"\nexport default () => x', 'TRANSFORM_IMPORT'],
  ['export default () => ({ mesage: "x" })', 'TEST_FAILED'],
  ['export default () => ({ message: 5 })', 'TEST_FAILED'],
  ['export default () => ({ message: ["x"] })', 'TEST_FAILED'],
  ['export default () => ({ deliver: "yes" })', 'TEST_FAILED'],
  ['export default () => ({ timeoutSeconds: "60" })', 'TEST_FAILED'],
  ['export default () => ({ action: "notify" })', 'TEST_FAILED'],
  ['export default () => ({ status: 400 })', 'TEST_FAILED'],
  ['export default () => ({ message: "" })', 'TEST_FAILED'],
  ['export default () => ({ sessionKey: "main" })', 'TEST_FAILED'],
  ['export default () => ({ wakeMode: "later" })', 'TEST_FAILED'],
  ['export default () => ({ deliverTo: "slack" })', 'TEST_FAILED'],
  ['export default () => ({ deliverTo: [{ chanel: "slack" }] })', 'TEST_FAILED'],
  ['export default () => "x"', 'TEST_FAILED'],
  ['export default () => 5', 'TEST_FAILED'],
  ['export default () => true', 'TEST_FAILED'],
  ['export default () => null', 'TEST_FAILED'],
  ['export default () => []', 'TEST_FAILED'],
  ['export default () => [["x"]]', 'TEST_FAILED'],
  ['export default () => () => ({ message: "x" })', 'TEST_FAILED'],
  ['export default () => { throw new Error("x") }', 'TEST_FAILED'],
  ['export default async () => { throw "x" }', 'TEST_FAILED'],
  ['export default () => ({ message: payload.title })', 'TEST_FAILED'],
  ['export default (payload) => ({ message: payload.title.toUpperCase() })', 'TEST_FAILED'],
  ['export default ({ body }) => ({ message: body.title })', 'TEST_FAILED'],
  ['export default ({ req }) => ({ message: req.body.title })', 'TEST_FAILED'],
  ['export default ({ payload }) => ({ message: payload.issue.title })', 'TEST_FAILED'],
  ['export default ({ base }) => { base.message = "x"; return base.nothing.here }', 'TEST_FAILED'],
  ['export default () => new Promise(() => {})', 'TEST_FAILED'],
  ['export default () => { for (;;) {} }', 'TEST_FAILED'],
  ['export default () => process.exit(1)', 'TEST_FAILED'],
  ['export default () => ({ message: 5n })', 'TEST_FAILED'],
  ['throw new Error("x")\nexport default () => null', 'TRANSFORM_NOT_LOADED'],
]

/** Registers one test for the rows of each code. */
export function testTransforms(rows: Seeded): void {
  for (const [code, mistakes] of Map.groupBy(rows, ([, code]) => code)) {
    const sources = mistakes.map(([source]) => source)
    test(`${code} is found in ${sources.length} transforms`, async (t) => {
      const { run } = await createCommandLine(t, filesFor(sources))
      const found = await codesByRow(run)
      for (const [row, source] of sources.entries())
        assert.ok(found.get(row)?.has(code), `${code} is not found in: ${source}`)
    })
  }
}

function filesFor(sources: readonly string[]): Record<string, string> {
  const files: Record<string, string> = {
    'reveille.yaml': 'hooks: { enabled: true, token: 6c1f0a52d98b4e7f93a1c6d0be5a4f27 }\n',
  }
  for (const [row, source] of sources.entries()) {
    files[`transforms/m${row}.ts`] = source
    files[`mappings/m${row}.yaml`] =
      `mappings: [{ id: m${row}, match: { path: m${row} }, message: "{{title}}", transform: { module: m${row}.ts } }]
tests: [{ name: t, request: { endpoint: m${row}, body: ${sample} }, expect: { mapping: m${row} } }]\n`
  }
  return files
}

/** Asks lint, check and test, until one says anything. */
async function codesByRow(
  run: (command: string) => Promise<{ readonly out: string; readonly err: string }>,
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const found = new Map<number, Set<string>>()
  const add = (row = '', code = '') => found.set(Number(row), (found.get(Number(row)) ?? new Set()).add(code))
  for (const command of ['lint', 'check', 'test']) {
    const { out, err } = await run(command)
    for (const [, row, code] of err.matchAll(/^\w+\/m(\d+)\..*\[([A-Z_]+)\]$/gm)) add(row, code)
    for (const [, row] of out.matchAll(/^mappings\/m(\d+)\.yaml\n {2}✗/gm)) add(row, 'TEST_FAILED')
    if (found.size > 0) break
  }
  return found
}
