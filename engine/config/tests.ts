/** Turns the items of `tests:` into tests: requests and expectations with their bodies read. */

import { backgroundMs, yieldIfDue } from '../yield.ts'
import type { TestEntry, TestSource } from './configuration.ts'
import { foldHeaders } from './entries.ts'
import { duplicateField, type Finding } from './file/diagnostic.ts'
import type { Diagnostics } from './file/diagnostics.ts'
import { keepTree, type Memo, remember } from './file/kept.ts'
import type { LoadContext } from './file/load-context.ts'
import type { Item } from './items.ts'
import { checkEndpointName } from './rules/endpoint-name.ts'
import { findChangedNumbers, writeExactJson } from './rules/inexact-number.ts'
import { readNamedFile } from './schema/checked-file.ts'
import { plainCopy } from './schema/normalize.ts'
import type { TestValue } from './schema/test-schema.ts'
import type { Path } from './values/path.ts'

/** Returns tests for the valid items, in order, and reports all mistakes. */
export async function createTests(
  items: readonly Item<TestValue>[],
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<TestEntry[]> {
  const tests: TestEntry[] = []
  const taken = new Map<string, Item<TestValue>>()
  for (const item of items) {
    await yieldIfDue(backgroundMs)
    const { value, source, path } = item
    if (!diagnostics.isSound(source, path)) continue
    const name = nameOf(item)
    const other = taken.get(`${source.file}\n${name}`)
    if (other) diagnostics.report(source, [duplicateName(item, other)])
    else taken.set(`${source.file}\n${name}`, item)
    diagnostics.report(
      source,
      remember(checked, value, [], () => [...checkTest(value)]),
      path,
    )
    const { bodyFile } = value.request
    const at = { source, path: [...path, 'request', 'bodyFile'] }
    const body = bodyFile === undefined ? undefined : await readNamedFile(bodyFile, at, context, diagnostics)
    tests.push(createTest(item, body?.text))
  }
  return tests
}

const checked: Memo<readonly Finding[]> = new WeakMap()
const folded: Memo<TestSource> = new WeakMap()

function nameOf({ value, position }: Item<TestValue>): string {
  return value.name ?? `test ${position}`
}

function duplicateName(item: Item<TestValue>, { source, path }: Item<TestValue>): Finding {
  return {
    path: item.value.name === undefined ? item.path : [...item.path, 'name'],
    code: 'DUPLICATE_NAME',
    message: `The name \`${nameOf(item)}\` is already that of the test at ${source.label(path)}`,
    hint: 'Every test of a file has a name of its own.',
  }
}

/** All paths begin at the test. */
function* checkTest({ request, expect }: TestValue): Iterable<Finding> {
  yield* checkEndpointName(request.endpoint, ['request', 'endpoint'], 'value')
  const { body, bodyFile } = request
  if (body !== undefined && bodyFile !== undefined)
    yield duplicateField(['request', 'bodyFile'], 'has both `body` and `bodyFile`', 'Keep one of the two.')
  // A payload may be a text, but one that is valid JSON was hardly intended to be one.
  if (typeof body === 'string' && /^\s*[[{]/.test(body)) {
    const problem = 'is JSON in quotes, which would be sent as a text'
    const hint = 'Take the quotes off: JSON is YAML too. For a text that looks like JSON, name a `bodyFile`.'
    yield { path: ['request', 'body'], code: 'TEXT_BODY', problem, hint }
  }
  for (const key of Object.keys(expect.actions === undefined ? {} : expect)) {
    if (ofRequest.has(key)) continue
    const problem = `has both \`actions\` and \`${key}\`, which does not go with it`
    const hint = `Write \`${key}\` into an item of \`actions\`, or leave \`actions\` out.`
    yield duplicateField(['expect', key], problem, hint)
  }
}

/** The keys about the request as a whole, which may be beside `actions`. */
const ofRequest: ReadonlySet<string> = new Set(['outcome', 'status', 'actions'])

function createTest(item: Item<TestValue>, bodyText: string | undefined): TestEntry {
  const { source, path, origin, value } = item
  const name = nameOf(item)
  const made = remember(folded, value, [bodyText, name], () => {
    const { headers, body: _, bodyFile: __, ...others } = value.request
    const body = bodyText === undefined ? bodyOf(item) : { bodyText }
    const request = { ...others, ...(headers && { headers: foldHeaders(headers) }), ...body }
    return keepTree<TestSource>('test', `${source.file} ${name}`, { ...value, name, request })
  })
  return Object.freeze({
    origin,
    label: source.label(path),
    value: made,
    locate: (below: Path, offset?: number) => source.placeInText([...path, ...below], offset),
  })
}

/** Returns the body as text if YAML lost digits, because a test has to send what its author wrote. */
function bodyOf({ value, source, path }: Item<TestValue>): Pick<TestSource['request'], 'body' | 'bodyText'> {
  const { body } = value.request
  if (body === undefined) return {}
  const at = [...path, 'request', 'body']
  const isInexact = [...findChangedNumbers(source, body, at)].some((number) => number.isInexact)
  return isInexact ? { bodyText: writeExactJson(source, body, at) } : { body: plainCopy(body) }
}
