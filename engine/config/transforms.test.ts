import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Diagnostic } from './file/diagnostic.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

async function load(context: TestContext, text: string) {
  const folder = await createSampleFolder(context, { 'reveille.yaml': text })
  return loadConfiguration({ file: folder.at('reveille.yaml'), env: {} })
}

async function loadGood(context: TestContext, text: string) {
  const loaded = await load(context, text)
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return loaded.configuration
}

/** Returns `CODE line:column hint` of each. */
function summary(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ code, place, hint }) => `${code} ${place?.line}:${place?.column} ${hint}`)
}

async function problems(context: TestContext, text: string): Promise<string[]> {
  const loaded = await load(context, text)
  assert.ok(!loaded.ok, 'this configuration should not load')
  return summary(loaded.diagnostics)
}

const mapping = '  mappings: [{ transform: { module: ./a/../review.ts, export: pull } }]\n'

test('a transform is called by its module’s normalised name', async (context) => {
  const { mappings } = await loadGood(context, `hooks:\n${mapping}`)
  assert.deepEqual(mappings[0]?.value.transform, { module: 'review.ts', export: 'pull' })
})

test('limits apply to all modules, or to one of them', async (context) => {
  const { settings, warnings } = await loadGood(
    context,
    `hooks:
  transforms:
    timeout: 2s
    concurrency: 8
    modules: { ./review.ts: { timeout: 1m, memoryMb: 512 } }
  reload: { requireTests: false, debounce: 1s, rest: 2s, poll: true }
${mapping}`,
  )
  assert.deepEqual(settings.hooks.transforms, {
    defaults: { timeoutMs: 2000, memoryMb: 128, concurrency: 8 },
    modules: { 'review.ts': { timeoutMs: 60_000, memoryMb: 512 } },
  })
  assert.deepEqual(settings.hooks.reload, { requireTests: false, debounceMs: 1000, restMs: 2000, poll: true })
  assert.deepEqual(warnings, [])
})

for (const [key, line, code] of [
  ['timeout: 5', '    timeout: 5', 'INVALID_VALUE 3:14'],
  ['memoryMb: 8', '    memoryMb: 8', 'INVALID_VALUE 3:15'],
  ['concurrency: 65', '    concurrency: 65', 'INVALID_VALUE 3:18'],
  ['a limit of a module', '    modules: { review.ts: { timeout: 30d } }', 'INVALID_VALUE 3:38'],
  ['a misspelt limit', '    modules: { review.ts: { memory: 64 } }', 'UNKNOWN_KEY 3:29'],
] as const) {
  test(`${key} is refused at its place`, async (context) => {
    const [first, ...rest] = await problems(context, `hooks:\n  transforms:\n${line}\n${mapping}`)
    assert.ok(first?.startsWith(code), first)
    assert.deepEqual(rest, [])
  })
}

for (const [key, code] of Object.entries({
  'debounce: 2m': 'INVALID_VALUE 2:23',
  'requireTests: "no"': 'INVALID_VALUE 2:27',
  'pol: true': 'UNKNOWN_KEY 2:13',
})) {
  test(`hooks.reload with ${key} is refused at its place`, async (context) => {
    const [first] = await problems(context, `hooks:\n  reload: { ${key} }\n`)
    assert.ok(first?.startsWith(code), first)
  })
}

test('limits of a module that no mapping names are reported with the nearest name', async (context) => {
  const text = `hooks:\n  transforms:\n    modules:\n      reveiw.ts: { memoryMb: 64 }\n      unlike: {}\n${mapping}`
  const { warnings } = await loadGood(context, text)
  assert.deepEqual(summary(warnings), [
    'UNUSED_FIELD 4:7 Did you mean `review.ts`?',
    'UNUSED_FIELD 5:7 Remove it.',
  ])
})

test('a module cannot have limits under two spellings', async (context) => {
  const text = `hooks:\n  transforms:\n    modules:\n      review.ts: {}\n      ./review.ts: {}\n${mapping}`
  assert.deepEqual(await problems(context, text), ['DUPLICATE_FIELD 5:7 Keep one of the two.'])
})

for (const name of ['../x.ts', 'a/../../x.ts', '/etc/x.ts', 'C:\\x.ts', '..']) {
  test(`a module called ${name} is refused, because it lies outside of its folder`, async (context) => {
    const [first, ...rest] = await problems(
      context,
      `hooks:\n  mappings:\n    - transform:\n        module: '${name}'\n`,
    )
    assert.match(first ?? '', /^INVALID_PATH 4:17 Put the module below `hooks\.transformsDir`/)
    assert.deepEqual(rest, [])
  })
}

const settingsOf = (lines: string) => `hooks:
  token: \${HOOK_TOKEN}
  mappings:
    - id: jira
      match: { path: jira }
      message: "plain \${JIRA_TOKEN}"
      transform:
        module: jira.ts
        with:
${lines
  .split('\n')
  .map((line) => `          ${line}`)
  .join('\n')}
`

test('only transform.with of a mapping may refer to the environment and to files', async (context) => {
  const folder = await createSampleFolder(context, {
    'reveille.yaml': 'hooks: { token: "${HOOK_TOKEN}" }',
    'secrets/key': 'file-key-0123\n',
    'mappings/jira.yaml': `mappings:
  - id: jira
    match: { path: jira }
    message: "plain \${JIRA_TOKEN}"
    transform:
      module: jira.ts
      with:
        token: \${JIRA_TOKEN}
        url: https://\${JIRA_HOST:-jira.example}/api
        key: \${file:secrets/key}
        plain: $\${NOT}
        team: platform
        labels: [a, 2, { deep: "\${JIRA_TOKEN}" }]
        retries: 3
        strict: true
        none:
`,
  })
  const env = { JIRA_TOKEN: 'jira-token-0123', HOOK_TOKEN: '4fK29sLq0ZpVx81mWnB7cRtY' }
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  const { mappings, secrets, sources, watched } = loaded.configuration
  const [jira] = mappings
  assert.deepEqual(JSON.parse(JSON.stringify(jira?.parameters)), {
    token: 'jira-token-0123',
    url: 'https://jira.example/api',
    key: 'file-key-0123',
    plain: '${NOT}',
    team: 'platform',
    labels: ['a', 2, { deep: 'jira-token-0123' }],
    retries: 3,
    strict: true,
    none: null,
  })
  assert.equal(jira?.value.message, 'plain ${JIRA_TOKEN}')
  assert.equal(jira?.value.transform?.with?.['token'], '${JIRA_TOKEN}', 'the mapping keeps the reference')
  assert.ok(Object.isFrozen(jira?.parameters?.['labels']))
  assert.ok(watched.includes(folder.at('secrets/key')), 'a change of the file is seen')
  assert.ok(
    !JSON.stringify([...sources]).includes('0123'),
    'what generations keep has no value of a reference',
  )
  assert.deepEqual([...secrets].sort(), ['4fK29sLq0ZpVx81mWnB7cRtY', 'file-key-0123', 'jira-token-0123'])
  const rotated = await loadConfiguration({
    file: folder.at('reveille.yaml'),
    env: { ...env, JIRA_TOKEN: 'jira-token-4567' },
  })
  assert.ok(rotated.ok)
  assert.notEqual(rotated.configuration.digest, loaded.configuration.digest)
})

test('an unset reference of a transform is an error that names its key', async (context) => {
  const text = settingsOf('token: ${JIRA_TOKEN}\nlist: ["${file:none}"]').replace(
    '${HOOK_TOKEN}',
    '4fK29sLq0ZpVx81mWnB7cRtY',
  )
  const loaded = await load(context, text)
  assert.ok(!loaded.ok)
  assert.deepEqual(
    loaded.diagnostics.map(({ message, place }) => `${place?.line}: ${message}`),
    [
      '10: `hooks.mappings[0].transform.with.token` refers to the variable JIRA_TOKEN, which is not set',
      '11: `hooks.mappings[0].transform.with.list[0]` refers to the file none, which does not exist',
    ],
  )
})

test('a number in transform.with that would lose digits is refused', async (context) => {
  const text = settingsOf('id: 9007199254740993').replace('${HOOK_TOKEN}', '4fK29sLq0ZpVx81mWnB7cRtY')
  assert.deepEqual(await problems(context, text), [
    'INEXACT_NUMBER 10:15 Give it as text: "9007199254740993".',
  ])
})

test('known secrets are the values of references and of keys that are named like secrets, from eight characters on', async (context) => {
  const { secrets } = await loadGood(
    context,
    `hooks:
  token: literal-hook-token-1
  mappings: [{ transform: { module: a.ts, with: { apiKey: literal-key, pin: { password: short, note: harmless text } } } }]
store: sqlite
`.replace('store: sqlite\n', ''),
  )
  assert.deepEqual([...secrets].sort(), ['literal-hook-token-1', 'literal-key'])
})

test('a template in transform.with is a warning that says what renders it', async (context) => {
  const text = settingsOf('team: "{{payload.team}}"\nlist: [plain, { deep: "for {{item.id}}" }]\nlabel: "{{"')
  const { warnings } = await loadGood(context, text.replaceAll('${HOOK_TOKEN}', '4fK29sLq0ZpVx81mWnB7cRtY'))
  const found = warnings.filter(({ code }) => code === 'UNRENDERED_TEMPLATE')
  assert.deepEqual(
    found.map(({ message }) => message),
    [
      '`hooks.mappings[0].transform.with.team` holds `{{payload.team}}`, and nothing is rendered there',
      '`hooks.mappings[0].transform.with.list[1].deep` holds `{{item.id}}`, and nothing is rendered there',
    ],
  )
  assert.deepEqual(summary(found), [
    'UNRENDERED_TEMPLATE 10:17 `with` is the same for every request. The transform reads the payload itself, and as `vars` what the mapping computes.',
    'UNRENDERED_TEMPLATE 11:33 `with` is the same for every request. The transform reads the payload itself, and as `vars` what the mapping computes.',
  ])
})
