import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../io-fixture.ts'
import { lintCodes } from './codes.ts'

const configuration = 'hooks: { presets: [] }\n'

const shadowed = `mappings:
  - id: all
    match: { path: github }
    message: Look at {{titel}}.
  - id: opened
    match: { path: github, body: { action: opened } }
    message: Look at {{title}}.
tests:
  - name: an opened one is looked at
    request: { endpoint: github, body: { action: opened, title: Fix it } }
    expect: { mapping: all }
`

test('findings are printed like those of check, file by file, with a closing line and exit code 1', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': configuration,
    'mappings/github.yaml': shadowed,
    'mappings/other.yaml': 'mappings: [{ id: lone, match: { path: other }, message: Look. }]\n',
  })
  const { code, out, err } = await run('lint')
  assert.equal(code, 1)
  assert.equal(out, '')
  assert.deepEqual(
    [...err.matchAll(/^(\S+?):(\d+):\d+: warning: .*\[(\w+)\]$/gm)].map(([, file, line, name]) => [
      file,
      Number(line),
      name,
    ]),
    [
      ['mappings/github.yaml', 4, 'UNKNOWN_FIELD'],
      ['mappings/github.yaml', 5, 'MISSING_TESTS'],
      ['mappings/github.yaml', 6, 'SHADOWED_MAPPING'],
      ['mappings/other.yaml', 1, 'MISSING_TESTS'],
    ],
  )
  assert.match(err, /hint: Did you mean title\?/)
  assert.match(err, /\nreveille\.yaml: 4 warnings\.\n$/)
})

test('a clean configuration has no findings', async (t) => {
  const { run } = await createCommandLine(t, { 'reveille.yaml': configuration })
  assert.deepEqual(await run('lint'), { code: 0, out: 'reveille.yaml: no findings.\n', err: '' })
})

test('the configuration that init writes has no findings', async (t) => {
  const { run } = await createCommandLine(t, {})
  await run('init')
  const { code, err } = await run('lint')
  assert.equal(err, '')
  assert.equal(code, 0)
})

test('findings may be allowed for a run, or for one place by a comment above it', async (t) => {
  const excused = shadowed
    .replace(
      '  - id: opened',
      '  # Kept for the day when all goes.\n  # reveille-lint-disable-next-line MISSING_TESTS\n  - id: opened',
    )
    .replace(
      '    message: Look at {{titel}}',
      '    # reveille-lint-disable-next-line OTHER, UNKNOWN_FIELD\n$&',
    )
  const { run } = await createCommandLine(t, {
    'reveille.yaml': configuration,
    'mappings/github.yaml': excused,
  })
  const { err } = await run('lint')
  assert.deepEqual(
    [...err.matchAll(/\[(\w+)\]/g)].map(([, code]) => code),
    ['SHADOWED_MAPPING'],
  )
  const allowed = await run('lint', '--allow', 'SHADOWED_MAPPING', 'UNUSED_FIELD')
  assert.equal(allowed.code, 0)
})

test('a misspelt code, and a folder of samples that is not there, are bad usage', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': configuration,
    'bodies/github/one.json': 'no JSON',
    'empty/notes.txt': '',
  })
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['--allow', 'SHADOWED_MAPING'], /no code SHADOWED_MAPING\. Did you mean SHADOWED_MAPPING\?/],
    [['--allow', 'local/reveille.yaml'], /is no code; --help lists them/],
    [['--samples', 'samples'], /There is no folder samples\./],
    [['--samples', 'empty'], /holds no payload; they are <endpoint>\/<name>\.json/],
    [['--samples', 'bodies'], /bodies.github.one\.json is no JSON\./],
  ]
  for (const [args, expected] of cases) {
    const { code, err } = await run('lint', ...args)
    assert.match(err, expected)
    assert.equal(code, 2, args.join(' '))
  }
})

test('fields are looked up in samples too: each for the endpoint of its folder, with its headers', async (t) => {
  const mapping = (id: string, event: string, field: string) =>
    `  - { id: ${id}, match: { path: github, headers: { x-github-event: ${event} } }, message: "{{${field}}}" }\n`
  const { run } = await createCommandLine(t, {
    'reveille.yaml': configuration,
    'mappings/github.yaml': `mappings:\n${mapping('one', 'push', 'reff')}${mapping('two', 'ping', 'zen')}`,
    'bodies/github/push.json': '{"ref": "main"}',
    'bodies/github/push.headers.json': '{"x-github-event": "push"}',
    'bodies/stripe.json': '{"reff": 1}',
  })
  const { err } = await run('lint', '--samples', 'bodies', '--allow', 'MISSING_TESTS')
  assert.equal(err.match(/\[UNKNOWN_FIELD\]/g)?.length, 1)
  assert.match(err, /names reff;.*\n.*\n.*\n {2}hint: Did you mean ref\?/)
})

test('errors of a configuration that does not compile are printed as by check', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': configuration,
    'mappings/broken.yaml': 'mappings: [{ id: one, message: "{{#if x}}" }]\n',
  })
  const { code, err } = await run('lint')
  assert.equal(code, 1)
  assert.match(err, /error: .*\[TEMPLATE_SYNTAX\]/)
  assert.match(err, /\nreveille\.yaml: 1 error\.\n$/)
})

test('--json answers the findings, and the help lists every code', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': configuration,
    'mappings/github.yaml': shadowed,
  })
  const { ok, diagnostics } = JSON.parse((await run('lint', '--json')).out)
  assert.equal(ok, false)
  assert.equal(diagnostics.length, 3)
  const { out } = await run('lint', '--help')
  for (const code of Object.keys(lintCodes)) assert.match(out, new RegExp(`^ {2}${code} `, 'm'))
})
