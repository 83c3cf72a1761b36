import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileFixture, type Mapping, requestOf, snapshotOf } from '../compile/fixture.ts'
import { ContainmentLimit } from './model/containment.ts'

/** Keys of payloads. */
const keys = [
  'a',
  'b',
  'list',
  'payload',
  'item',
  'vars',
  'index',
  'params',
  '__proto__',
  'constructor',
  'length',
  'toString',
  'toJSON',
  'valueOf',
]

/** Templates refuse other keys at load. */
const names = keys.filter((name) => name !== '__proto__' && name !== 'constructor')

const path = fc
  .array(fc.constantFrom(...names, 'v'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('.'))

const template = fc
  .array(
    fc.oneof(
      path.map((name) => `{{${name}}}`),
      path.map((name) => `{{#each ${name}}}{{this}}{{@index}}{{../a}}{{else}}none{{/each}}`),
      path.map((name) => `{{#if ${name}}}{{json ${name}}}{{/if}}`),
      path.map(
        (name) => `{{truncate ${name} 5}}{{join ${name} "-"}}{{default ${name} "d"}}{{plural ${name} "x"}}`,
      ),
      fc.constantFrom('text ', '{{now}}', '{{date a}}', '{{quote b}}'),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join(''))

const expression = fc.oneof(
  path,
  fc.constantFrom(
    'list',
    '$',
    '$$.a',
    '**.a',
    '*[0]',
    'list.a',
    '$count(list)',
    '$string(a)',
    '$keys(b)',
    'a & b',
    'a = b',
    'list[a > 1]',
    'list^(a)',
    '{"v": a, "w": [b]}',
    '$sum(list)',
    '$map(list, function($x) { $x.a })',
    '$not(a)',
    'index + 1',
    'item ~> $string',
    'vars.v',
  ),
)

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const mapping = fc.record({
  match: maybe(
    fc.oneof(
      fc.record({ when: expression }),
      fc.record({
        body: fc.constantFrom(
          { a: { exists: true } },
          { list: { a: [1, null] } },
          { b: { numeric: ['>', 0] } },
        ),
      }),
    ),
  ),
  schema: maybe(
    fc.constantFrom(
      true,
      { type: 'object' },
      { required: ['a'] },
      { properties: { list: { uniqueItems: true } } },
    ),
  ),
  forEach: maybe(expression),
  vars: maybe(fc.record({ v: expression, w: expression })),
  action: fc.constantFrom('wake' as const, 'agent' as const),
  content: fc.oneof(
    template,
    expression.map((text) => `{% ${text} %}`),
  ),
  name: maybe(
    fc.oneof(
      template,
      expression.map((text) => `{% ${text} %}`),
    ),
  ),
  sessionKey: maybe(path.map((name) => `hook:{{${name}}}`)),
  deliverTo: maybe(
    fc.array(fc.record({ channel: fc.constantFrom('slack', '{{a}}', '{% b %}'), to: template }), {
      minLength: 1,
      maxLength: 2,
    }),
  ),
  strict: fc.integer({ min: 0, max: 3 }).map((drawn) => drawn === 0),
  continue: fc.boolean(),
})

const payload = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      'null',
      '0',
      '-1.5',
      '9007199254740993',
      '1e300',
      'true',
      '""',
      '" "',
      '"text"',
      '"\\ud83d"',
      '"1"',
    ),
    fc.array(tie('value'), { maxLength: 4 }).map((parts) => `[${parts.join(',')}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...keys, 'v'), tie('value')), { maxLength: 4 })
      .map((fields) => `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
})).value as fc.Arbitrary<string>

type Drawn = typeof mapping extends fc.Arbitrary<infer Value> ? Value : never

function mappingOf({ content, action, name, sessionKey, deliverTo, ...rest }: Drawn, index: number): Mapping {
  const own: Partial<Mapping> =
    action === 'wake' ? { text: content } : { message: content, name, sessionKey, deliverTo }
  const whole = { ...rest, ...own, action, id: `m${index}`, allowPayloadRouting: true }
  return Object.fromEntries(
    Object.entries(whole).filter(([, value]) => value !== undefined),
  ) as unknown as Mapping
}

/**
 * The codes with which a random expression may be refused at load: a list as a condition, `vars.v` before it has a
 * value.
 */
const refusedAtLoad = new Set(['WHEN_NOT_BOOLEAN', 'NAME_WITHOUT_VALUE', 'AMBIGUOUS_ELEMENT'])

test('whatever the mappings and the payload, resolving and explaining give the same decision and never throw', async () => {
  const outcomes = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(mapping, { minLength: 1, maxLength: 3 }),
      fc.array(payload, { minLength: 3, maxLength: 3 }),
      async (drawn, bodies) => {
        const compiled = compileFixture(drawn.map(mappingOf))
        if (!compiled.ok) {
          for (const { code, severity } of compiled.diagnostics)
            assert.ok(severity === 'warning' || refusedAtLoad.has(code), code)
          return
        }
        for (const body of bodies) {
          const before = Object.keys(Object.prototype).length
          const decision = await compiled.snapshot.resolve(requestOf(body))
          const explanation = await compiled.snapshot.explain(requestOf(body))
          assert.notEqual(decision.outcome, 'failed', 'cause' in decision ? String(decision.cause) : '')
          assert.equal(explanation.decision.outcome, decision.outcome)
          assert.equal(Object.keys(Object.prototype).length, before)
          if (decision.outcome === 'accepted') {
            const matched = explanation.candidates
              .filter(({ verdict }) => verdict === 'matched')
              .map((each) => each.mapping)
            assert.ok(decision.actions.every((action) => matched.includes(action.mapping ?? '')))
            assert.equal(explanation.actions.length, decision.actions.length)
          }
          const { outcome } = decision
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        }
      },
    ),
    { seed: 11, numRuns: 150 },
  )
  assert.deepEqual([...outcomes.keys()].sort(), ['accepted', 'ignored', 'refused', 'skipped'])
})

test('a request whose thread was ended is refused, and is not a failure of the engine', async () => {
  const beginUnbounded = () => {
    throw new ContainmentLimit()
  }
  const snapshot = snapshotOf([{ id: 'm', message: '{{#each a}}{{#each this}}x{{/each}}{{/each}}' }])
  for (const request of [requestOf({ a: [[1]] }), requestOf({}, { isUndecoded: true })]) {
    const decision = await snapshot.resolve(request, { containment: { beginUnbounded, checkTime: () => {} } })
    assert.ok('code' in decision)
    assert.deepEqual([decision.outcome, decision.code], ['refused', 'TOO_LARGE_RENDERED'])
    assert.match(decision.message, /exceeds the limit of time or memory/)
  }
})
