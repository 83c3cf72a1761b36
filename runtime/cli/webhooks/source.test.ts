import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { failure } from '../command-failure.ts'
import type { Io } from '../io.ts'
import { assertAnswer, createCommandLine, testTranscript } from '../io-fixture.ts'
import { hasScreen } from './person.ts'
import { clientFile, code, mailPlugin, person, refreshToken } from './test-bed.ts'

const configuration = `# Ours.
plugins: [./mail]
hooks:
  enabled: true
  token: hook-token-of-ours # to be rotated
agents: { route: { channel: terminal } }
channels: { terminal: {} }
`
const withHooks = (lines: string) => configuration.replace('hooks:\n', `hooks:\n${lines}`)
const files = { ...mailPlugin, 'reveille.yaml': configuration, 'client.json': clientFile }

async function begin(t: TestContext, overrides: Partial<Io> = {}, more: Record<string, string> = {}) {
  const line = await createCommandLine(t, { ...files, ...more }, overrides)
  const setup = (...options: readonly string[]) => line.run('webhooks', 'gmail', 'setup', ...options)
  return {
    ...line,
    setup,
    read: (name = 'reveille.yaml') => readFile(path.join(line.cwd, name), 'utf8'),
    async succeed(...options: readonly string[]) {
      const answer = await setup(...options)
      assert.equal(answer.code, 0, answer.err)
      return answer
    },
  }
}

const account = ['--account', 'ada@example.com']
const flags = ['--client-file', 'client.json', ...account]
const pasting = { line: async () => code }
const mailbox = { account: 'ada@example.com', harbour: 'Brest' }

test('options alone set a mailbox up, each step is reported, and comments and order stay as they are', async (t) => {
  const { succeed, read, cwd } = await begin(t, pasting)
  const { out, err } = await succeed(...flags)
  const text = await read()
  assert.ok(text.startsWith('# Ours.\nplugins: [./mail]\nhooks:\n  enabled: true\n'))
  assert.ok(text.includes('token: hook-token-of-ours # to be rotated\n'))
  const { gmail, presets } = parse(text).hooks
  assert.deepEqual([gmail, presets], [mailbox, ['gmail']])
  assert.match(err, /^✓ client {9}the client of harbour$/m)
  assert.match(err, /^✓ configuration {2}Wrote hooks\.gmail in reveille\.yaml\.$/m)
  assert.match(err, /^✓ preset {9}Added gmail to hooks\.presets/m)
  assert.match(err, /^https:\/\/accounts\.example\/consent\?state=1$/m, 'the address is alone on its line')
  assert.ok(!err.includes('\u001b'), 'the answer of a service cannot control the terminal')
  assert.match(out, /^ada@example\.com is set up\.\n\n/)
  assert.match(out, /Start the gateway, which runs the source: `reveille start`/)
  const folder = path.join(cwd, 'data/sources/gmail')
  assert.equal((await stat(path.join(folder, 'credentials.json'))).mode & 0o777, 0o600)
})

test('the answer as JSON holds every step, and a second run does not even replace the file', async (t) => {
  const { succeed, read, cwd } = await begin(t, pasting)
  const { steps, ...facts } = JSON.parse((await succeed(...flags, '--json')).out)
  assert.deepEqual(
    steps.map(({ step, outcome }: { step: string; outcome: string }) => `${step} ${outcome}`),
    ['client done', 'consent done', 'configuration done', 'preset done'],
  )
  assert.deepEqual(facts, {
    ok: true,
    account: 'ada@example.com',
    harbour: 'Brest',
    warnings: [],
    configuration: { file: 'reveille.yaml', changed: true },
  })
  const before = await read()
  const { ino } = await stat(path.join(cwd, 'reveille.yaml'))
  const { err } = await succeed()
  assert.match(
    err,
    /^· client .*\n· consent .*\n· configuration {2}reveille\.yaml says it already\.\n· preset /m,
  )
  const { configuration } = JSON.parse((await succeed('--json')).out)
  assert.deepEqual(configuration, { file: 'reveille.yaml', changed: false })
  assert.deepEqual([await read(), (await stat(path.join(cwd, 'reveille.yaml'))).ino], [before, ino])
})

test('a person is asked only for unknown values, and sees the error in an answer', async (t) => {
  const { output, prompts, isAnswered } = person({
    'The OAuth client': ['', "'client.json'"],
    'The mailbox': ['ada', 'ada@example.com'],
    Address: [code],
  })
  const { succeed, read } = await begin(t, { prompts, columns: 80 })
  await succeed()
  assert.ok(isAnswered())
  assert.ok(output.includes(': It is required.'))
  assert.ok(output.includes('ada: It must be an address.'))
  assert.deepEqual(parse(await read()).hooks.gmail, mailbox)
  assert.ok(output.some((text) => /✓.* configuration {2}Wrote hooks\.gmail/.test(text)))

  output.length = 0
  await succeed()
  assert.deepEqual(
    output.filter((text) => text.startsWith('?')),
    [],
    'nothing is asked again',
  )
})

test('an empty answer means the default that the plugin offers', async (t) => {
  const { prompts, output, isAnswered } = person({ 'The mailbox': [''] })
  const { succeed, read } = await begin(
    t,
    { prompts, columns: 80 },
    {
      'data/sources/gmail/credentials.json': JSON.stringify({ account: 'grace@example.com', refreshToken }),
      'data/sources/gmail/client.json': clientFile,
    },
  )
  await succeed()
  assert.ok(isAnswered(), output.join())
  assert.equal(parse(await read()).hooks.gmail.account, 'grace@example.com')
})

interface Edited {
  /** What is under `hooks:` before. */
  readonly before: string
  readonly options?: readonly string[]
  readonly gmail: object
  /** A part of the file afterwards. */
  readonly text?: RegExp
}

const complete = '  gmail: { account: "${MAILBOX}", harbour: Brest }\n  presets: [gmail]\n'

const edits: Readonly<Record<string, Edited>> = {
  'a value that a reference gives already stays a reference': {
    before: complete,
    options: ['--label', 'Work'],
    gmail: { ...mailbox, account: '${MAILBOX}', label: 'Work' },
  },
  'references in an incomplete mailbox are used and stay': {
    before: '  gmail:\n    account: "${MAILBOX}" # ours\n    label: "${LABEL}"\n',
    options: ['--client-file', 'client.json'],
    gmail: { ...mailbox, account: '${MAILBOX}', label: '${LABEL}' },
    text: /account: "\$\{MAILBOX\}" # ours\n {4}label: "\$\{LABEL\}"\n {4}harbour: Brest/,
  },
  'invalid values of a mailbox in the configuration are replaced, and valid ones stay': {
    before: '  gmail:\n    account: 5\n    label: Work # ours\n    lable: Home\n    model: openai/gpt-5.2\n',
    gmail: { ...mailbox, label: 'Work', model: 'openai/gpt-5.2' },
    text: /label: Work # ours/,
  },
}

for (const [name, { before, options = [], gmail, text = /./ }] of Object.entries(edits))
  test(name, async (t) => {
    const env = { MAILBOX: 'ada@example.com', LABEL: 'Work' }
    const { succeed, read } = await begin(t, { ...pasting, env }, { 'reveille.yaml': withHooks(before) })
    await succeed(...(options[0] === '--client-file' ? [] : flags), ...options)
    const edited = await read()
    assert.match(edited, text)
    assert.deepEqual(parse(edited).hooks.gmail, gmail)
  })

test('a browser is opened where there is a screen, and the address is shown in any case', async (t) => {
  let opened = 0
  const browse = async () => ++opened > 0
  const screen = { DISPLAY: ':0' }
  const cases: readonly (readonly [Partial<Io>, readonly string[], number])[] = [
    [{ columns: 80, env: screen }, [], 1],
    [{ columns: 80, env: screen }, ['--no-browser'], 0],
    [{ env: screen }, [], 0],
    [{ columns: 80, env: { ...screen, SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' } }, [], 0],
    [{ columns: 80, env: screen, browse: () => Promise.reject(new Error('spawn xdg-open ENOENT')) }, [], 0],
  ]
  for (const [overrides, options, expected] of cases) {
    opened = 0
    const { succeed } = await begin(t, { ...pasting, browse, ...overrides })
    const { err } = await succeed(...flags, ...options)
    assert.equal(opened, expected, JSON.stringify([overrides, options]))
    assert.match(err, /^https:\/\/accounts\.example\/consent/m)
    if (expected === 0) assert.match(err, /^Open this address in a browser/m)
  }
})

test('there is a screen with a display, on a desktop or in WSL, and none in a remote session', () => {
  const cases: readonly (readonly [env: Record<string, string>, NodeJS.Platform, expected: boolean])[] = [
    [{}, 'linux', false],
    [{ DISPLAY: '' }, 'linux', false],
    [{ SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, 'darwin', false],
    [{ DISPLAY: ':10', SSH_TTY: '/dev/pts/1' }, 'linux', false],
    [{}, 'darwin', true],
    [{}, 'win32', true],
    [{ WAYLAND_DISPLAY: 'wayland-0' }, 'linux', true],
    [{ WSL_DISTRO_NAME: 'Debian' }, 'linux', true],
  ]
  for (const [env, platform, expected] of cases)
    assert.equal(hasScreen(env, platform), expected, JSON.stringify([env, platform]))
})

test('Ctrl-C ends the setup with exit code 1 and the command that continues', async (t) => {
  const { start, read } = await begin(t, {
    line: (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  })
  const going = start('webhooks', 'gmail', 'setup', ...flags)
  await going.until(/Address that the browser ends at/)
  assertAnswer(await going.stop(), {
    code: 1,
    err: /Called off\. What was done is kept: `reveille webhooks gmail setup`/,
  })
  assert.equal(await read(), configuration)
})

test('a person who cancels at a question ends the setup in the same way', async (t) => {
  const cancelled = async () => ({
    ...(await person({}).prompts()),
    text: () => Promise.reject(failure('Called off.')),
  })
  const { setup } = await begin(t, { prompts: cancelled, columns: 80 })
  assertAnswer(await setup(), { code: 1, err: /Called off\. What was done is kept: / })
})

test('a failure says how to go on; as JSON it has the steps before', async (t) => {
  const { setup } = await begin(t, { line: async () => 'deny' })
  assertAnswer(await setup(...flags), {
    code: 1,
    err: /Nobody consented\.\nWhat was done is kept: `reveille webhooks gmail setup` goes on from there\.\n$/,
  })
  const { code: exit, out, err } = await setup('--json')
  const { ok, code: failure, message, steps } = JSON.parse(out)
  assert.deepEqual([exit, ok, failure, steps.length], [1, false, 'consent-denied', 1])
  assert.match(message, /^Nobody consented\./)
  assert.doesNotMatch(err, /Nobody consented/)
})

testTranscript(
  files,
  `
# without a terminal, missing values are reported at once
1 $ webhooks gmail setup
! There is no OAuth client.…

# an option that the plugin refuses is bad usage, as JSON too
2 $ webhooks gmail setup --client-file none.json
! …It is not JSON…
2 $ webhooks gmail setup --client-file none.json --json
…"message": "…It is not JSON…

# an error elsewhere in the configuration is reported before a consent is asked for
+ reveille.yaml: { plugins: [./mail], hooks: { enabled: true, token: hook-token-of-ours }, agent: {} }
1 $ webhooks gmail setup --account ada@example.com --client-file client.json
! reveille.yaml:1:75: error: \`agent\` is not a known key…

# options of a wrong form are bad usage
2 $ webhooks gmail setup --account ada
! …
2 $ webhooks gmail setup --max-bytes 0
! …
2 $ webhooks gmail setup --max-bytes 1e3
! …

# \`webhooks\` and \`webhooks gmail\` alone list their commands
2 $ webhooks
! Usage: reveille webhooks …
!   gmail …
2 $ webhooks gmail
! Usage: reveille webhooks gmail …
!   setup …
!   run …
`,
)

testTranscript(
  {},
  `
# without a configuration the command names init
2 $ webhooks gmail setup
! There is no reveille.yaml …
! …reveille init
`,
)

test('a configuration that would not load with the mailbox, or whose variable is not set, stays as it was', async (t) => {
  const unset = /refers to the variable LABEL, which is not set(?!.*is required).*Fix this first\.\n$/s
  for (const [before, err] of [
    ['  presets: gmail\n', /hooks\.presets/],
    ['  gmail:\n    account: ada@example.com\n    label: "${LABEL}"\n', unset],
  ] as const) {
    const text = withHooks(before)
    const { setup, read } = await begin(t, pasting, { 'reveille.yaml': text })
    assertAnswer(await setup(...flags), { code: 1, err })
    assert.equal(await read(), text)
  }
})

test('a file that cannot be replaced is reported with the lines that belong there, and the next run continues', async (t) => {
  const { setup, succeed, read, cwd } = await begin(t, pasting)
  const inTheWay = path.join(cwd, `reveille.yaml.${process.pid}.next`)
  await mkdir(inTheWay)
  const { code: exit, out } = await setup(...flags, '--json')
  const { ok, message } = JSON.parse(out)
  assert.deepEqual([exit, ok], [1, false])
  assert.match(message, /^reveille\.yaml or the \.env beside it cannot be written \(EISDIR\)\./)
  assert.deepEqual(parse(message.slice(message.indexOf('\n\n'))).hooks.presets, ['gmail'])
  assert.equal(await read(), configuration)
  await rm(inTheWay, { recursive: true })
  assert.match((await succeed(...account)).err, /^· consent /m)
})

test('an edit during the check of the file is kept', async (t) => {
  let file = ''
  let hasConsented = false
  // The last look at the file reads the variables.
  const env = {
    get HOOK_TOKEN() {
      if (hasConsented) appendFileSync(file, '# theirs\n')
      hasConsented = false
      return 'hook-token-of-ours'
    },
  }
  const line = async () => {
    hasConsented = true
    return code
  }
  const own = configuration.replace('hook-token-of-ours', '"${HOOK_TOKEN}"')
  const { succeed, read, cwd } = await begin(t, { line, env }, { 'reveille.yaml': own })
  file = path.join(cwd, 'reveille.yaml')
  const { err } = await succeed(...flags)
  assert.match(await read(), /# theirs\n$/)
  assert.ok(parse(await read()).hooks.gmail)
  assert.equal(err.match(/^✓ configuration/gm)?.length, 1)
})

test('a removed preset is not added again where another mapping takes the mails', async (t) => {
  const own = withHooks('  gmail: { account: ada@example.com, harbour: Brest }\n')
  const { succeed, read } = await begin(t, pasting, {
    'reveille.yaml': own,
    'mappings/mail.yaml': 'mappings:\n  - { id: mail, match: { path: gmail }, action: wake, text: Mail }\n',
  })
  assert.match((await succeed(...flags)).err, /^· preset /m)
  assert.equal(await read(), own)
})

for (const [what, text, warnings] of [
  [
    'a preset on another endpoint, since mails are not posted there',
    withHooks('  presets: [{ name: gmail, path: post }]\n'),
    [/^! No mapping takes the endpoint gmail, where events are posted: they are ignored\.$/m],
  ],
  [
    'hooks that are off, and a missing channel',
    'plugins: [./mail]\n',
    [
      /^! hooks\.enabled is not true/m,
      /^! There is no channel for replies yet: `reveille init channel slack`$/m,
    ],
  ],
  ['a missing route', configuration.replace(/agents:.*\n/, ''), [/^! Nothing says where replies go/m]],
] as const)
  test(`there is a warning about ${what}`, async (t) => {
    const { setup } = await begin(t, pasting, { 'reveille.yaml': text })
    assertAnswer(await setup(...flags), { err: warnings })
  })

test('there is a warning about files that the user of the gateway may not read', async (t) => {
  const { succeed, cwd } = await begin(t, { ...pasting, columns: 60 })
  const { warnings } = JSON.parse((await succeed(...flags, '--json')).out)
  assert.deepEqual(warnings, [])
  if (process.getuid?.() !== 0) return t.diagnostic('only root can give files away')
  await chown(path.join(cwd, 'data'), 65_534, 65_534)
  const [warning] = JSON.parse((await succeed('--json')).out).warnings
  assert.match(warning, /`chown -R 65534:65534 .*\/data\/sources`/)
})

test('commands to be pasted do not name the configuration that is found in local, whose mode stays', async (t) => {
  const local = Object.entries(files).map(([name, text]) => [`local/${name}`, text])
  const line = await createCommandLine(t, Object.fromEntries(local), pasting)
  const file = path.join(line.cwd, 'local/reveille.yaml')
  await chmod(file, 0o640)
  const options = ['--client-file', 'local/client.json', ...account]
  assertAnswer(await line.run('webhooks', 'gmail', 'setup', ...options), { out: /`reveille start`/ })
  assert.equal((await stat(file)).mode & 0o777, 0o640)
})
