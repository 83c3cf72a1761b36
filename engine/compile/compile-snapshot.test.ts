import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileFixture, type Fixture, type Mapping, snapshotOf } from './fixture.ts'

function diagnosticsOf(mapping: Mapping, fixture?: Fixture) {
  const compiled = compileFixture([mapping], fixture)
  if (compiled.ok) assert.fail('it compiled')
  return compiled.diagnostics.map(({ code, message, place, hint }) => {
    const pointed = place?.text.slice(place.column - 1)
    return { code, message, pointed, hint }
  })
}

/** Title, mapping, code, the text at the place, the text in the hint. */
const refused: readonly (readonly [string, Mapping, string, string, RegExp])[] = [
  ['a template that does not parse', { message: 'Hi {{name' }, 'TEMPLATE_SYNTAX', '{{name', /Close every/],
  [
    'an unknown helper',
    { message: 'Hi {{trunkate a 3}}!' },
    'TEMPLATE_SYNTAX',
    'trunkate a 3}}!',
    /Did you mean truncate/,
  ],
  ['an expression that does not parse', { message: '{% a + %}' }, 'EXPRESSION_SYNTAX', '%}', /JSONata/],
  ['an expression in name', { message: 'x', name: '{% $sum( %}' }, 'EXPRESSION_SYNTAX', '%}', /JSONata/],
  [
    'a word too many in match.when',
    { message: 'x', match: { when: 'a = 1 b' } },
    'EXPRESSION_SYNTAX',
    'b',
    /JSONata/,
  ],
  [
    '$eval',
    { message: '{% a & $eval(b) %}' },
    'EXPRESSION_SYNTAX',
    '$eval(b) %}',
    /Write the expression out/,
  ],
  [
    '$eval passed on',
    { message: 'x', match: { when: 'a ~> $eval' } },
    'EXPRESSION_SYNTAX',
    '$eval',
    /Write the/,
  ],
  ['a placeholder in to', { message: 'x', to: 'C{{a}}' }, 'PAYLOAD_ROUTING', '{{a}}', /allowPayloadRouting/],
  [
    'a placeholder in channel',
    { message: 'x', channel: '{{a}}' },
    'PAYLOAD_ROUTING',
    '{{a}}',
    /allowPayloadRouting/,
  ],
  [
    'an expression in model',
    { message: 'x', model: '{% a %}' },
    'PAYLOAD_ROUTING',
    '{% a %}',
    /allowPayloadRouting/,
  ],
  [
    'a session key of the payload’s choosing',
    { message: 'x', sessionKey: '{{a}}' },
    'SESSION_KEY_PREFIX',
    '{{a}}',
    /hook:github:/,
  ],
  [
    'a prefix without its colon',
    { message: 'x', sessionKey: 'pr{{a}}' },
    'SESSION_KEY_PREFIX',
    '{{a}}',
    /hook:github:/,
  ],
  [
    'a prefix that is only a colon',
    { message: 'x', sessionKey: ':{{a}}' },
    'SESSION_KEY_PREFIX',
    '{{a}}',
    /hook:github:/,
  ],
  [
    'a prefix inside a block',
    { message: 'x', sessionKey: '{{#if a}}pr:{{/if}}{{b}}' },
    'SESSION_KEY_PREFIX',
    '{{#if a}}pr:{{/if}}{{b}}',
    /./,
  ],
  [
    'a session key by expression',
    { message: 'x', sessionKey: '{% "pr:" & a %}' },
    'SESSION_KEY_PREFIX',
    '{% "pr:" & a %}',
    /./,
  ],
  ['the main session', { message: 'x', sessionKey: 'MAIN' }, 'RESERVED_SESSION_KEY', 'MAIN', /^$/],
  ['an unknown channel', { message: 'x', channel: 'slak' }, 'UNKNOWN_CHANNEL', 'slak', /Did you mean slack/],
  [
    'an unknown channel for nothing',
    { message: 'x', channel: 'fax', deliver: false },
    'UNKNOWN_CHANNEL',
    'fax',
    /^There is no such channel; a plugin of your own may bring it\.$/,
  ],
  [
    'an unconfigured channel',
    { message: 'x', channel: 'telegram' },
    'CHANNEL_NOT_CONFIGURED',
    'telegram',
    /Configure/,
  ],
  [
    'a model without a provider',
    { message: 'x', model: 'gpt-5' },
    'MODEL_NOT_ALLOWED',
    'gpt-5',
    /like openai\/gpt-5/,
  ],
  [
    'an unknown thinking level',
    { message: 'x', thinking: 'hihg' },
    'UNKNOWN_THINKING',
    'hihg',
    /Did you mean high/,
  ],
  ['an unknown wake mode', { message: 'x', wakeMode: 'soon' }, 'INVALID_FIELD', 'soon', /^$/],
  ['an unknown runner', { message: 'x', runner: 'claud' }, 'UNKNOWN_RUNNER', 'claud', /Did you mean claude/],
  ['a blank message', { message: ' ' }, 'BLANK_TEXT', ' ', /^$/],
  ['deliver in quotes', { message: 'x', deliver: 'false' }, 'INVALID_FIELD', 'false', /without quotes/],
  ['a timeout in quotes', { message: 'x', timeoutSeconds: '30' }, 'INVALID_FIELD', '30', /without quotes/],
  [
    'a timeout with a unit',
    { message: 'x', timeoutSeconds: '10m' },
    'INVALID_FIELD',
    '10m',
    /without a unit/,
  ],
  ['a timeout of nothing', { message: 'x', timeoutSeconds: 0 }, 'INVALID_FIELD', '0', /^$/],
]

for (const [what, mapping, code, pointed, hint] of refused) {
  test(`${what} is refused at load, with its place`, () => {
    const [first, ...others] = diagnosticsOf(mapping)
    assert.deepEqual(others, [])
    assert.deepEqual([first?.code, first?.pointed], [code, pointed])
    assert.match(first?.hint ?? '', hint)
    assert.match(first?.message ?? '', /^`[\w.]+` of mapping "first": /)
  })
}

test('every error of every mapping is reported together, in the order of the file', () => {
  const compiled = compileFixture([
    { id: 'a', message: '{{a', channel: 'fax', model: '{{b}}' },
    { id: 'b', message: 'x', match: { when: '(' }, runner: 'nobody' },
  ])
  assert.ok(!compiled.ok)
  assert.deepEqual(
    compiled.diagnostics.map(({ code, place }) => [code, place?.line]),
    [
      ['PAYLOAD_ROUTING', 1],
      ['TEMPLATE_SYNTAX', 1],
      ['UNKNOWN_CHANNEL', 1],
      ['EXPRESSION_SYNTAX', 2],
      ['UNKNOWN_RUNNER', 2],
    ],
  )
})

test('with prefixes set, a session key must begin with one, as far as load can know', () => {
  const fixture: Fixture = { hooks: { allowedSessionKeyPrefixes: ['hook:ci:'] } }
  const codes = (sessionKey: string) => {
    const compiled = compileFixture([{ message: 'x', sessionKey }], fixture)
    return compiled.ok ? [] : compiled.diagnostics.map(({ code }) => code)
  }
  assert.deepEqual(codes('hook:ci:7'), [])
  assert.deepEqual(codes('hook:ci:{{a}}'), [])
  assert.deepEqual(codes('hook:{{a}}'), [])
  assert.deepEqual(codes('hook:7'), ['SESSION_KEY_NOT_ALLOWED'])
  assert.deepEqual(codes('pr:{{a}}'), ['SESSION_KEY_NOT_ALLOWED'])
})

test('the default runner must exist', () => {
  const [found] = diagnosticsOf({ message: 'x' }, { defaults: { runner: 'eccho' } })
  assert.equal(found?.message, '`agents.defaults.runner` must be one of claude, command, echo')
  assert.equal(found?.hint, 'Did you mean echo?')
})

test('content without a boundary gives a warning', () => {
  const compiled = compileFixture([{ message: '{{a}}', allowUnsafeExternalContent: true }])
  assert.ok(compiled.ok)
  assert.deepEqual(
    compiled.warnings.map(({ severity, code }) => [severity, code]),
    [['warning', 'UNSAFE_CONTENT']],
  )
})

test('an expression in the middle of a text gives a warning', () => {
  const compiled = compileFixture([{ message: 'Review {% title %}' }])
  assert.ok(compiled.ok)
  assert.deepEqual(
    compiled.warnings.map(({ code, place }) => [code, place?.text.slice(place.column - 1)]),
    [['PARTIAL_EXPRESSION', '{% title %}']],
  )
})

test('a snapshot lists its mappings in matching order and covers their endpoints', () => {
  const snapshot = snapshotOf([
    { id: 'a', match: { path: 'github' }, message: 'x', description: 'Reviews' },
    { id: 'b', match: { path: 'ci' }, action: 'wake', text: 'x' },
  ])
  assert.deepEqual(snapshot.mappings, [
    { id: 'a', description: 'Reviews', path: 'github', action: 'agent', place: 'mappings/test.yaml:1:1' },
    { id: 'b', description: undefined, path: 'ci', action: 'wake', place: 'mappings/test.yaml:2:1' },
  ])
  const covered = ['github', 'ci', 'wake', 'agent', 'other', 'constructor'].filter((name) =>
    snapshot.covers(name),
  )
  assert.deepEqual(covered, ['github', 'ci', 'wake', 'agent'])
  assert.equal(snapshotOf([{ message: 'x' }]).covers('anything'), true)
})

test('a snapshot is deeply frozen', () => {
  const snapshot = snapshotOf([{ message: 'x' }], { endpoints: { github: { maxBodyBytes: 5 } } })
  const thawed: string[] = []
  const visit = (value: unknown, path: string): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return
    if (!Object.isFrozen(value)) thawed.push(path)
    if (typeof value === 'object')
      for (const [key, child] of Object.entries(value)) visit(child, `${path}.${key}`)
  }
  visit(snapshot, 'snapshot')
  assert.deepEqual(thawed, [])
})
