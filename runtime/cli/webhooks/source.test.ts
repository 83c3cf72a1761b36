import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import type { Io } from '../io.ts'
import { createCommandLine } from '../io-fixture.ts'
import { hasScreen } from './person.ts'
import { clientFile, clientSecret, code, mailPlugin, person, refreshToken } from './test-bed.ts'

const configuration = `# Ours.
plugins: [./mail]
hooks:
  enabled: true
  token: hook-token-of-ours # to be rotated
agents: { route: { channel: terminal } }
channels: { terminal: {} }
`

async function begin(
  t: TestContext,
  overrides: Partial<Io> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const line = await createCommandLine(
    t,
    { ...mailPlugin, 'reveille.yaml': configuration, 'client.json': clientFile, ...files },
    overrides,
  )
  const read = (name = 'reveille.yaml') => readFile(path.join(line.cwd, name), 'utf8')
  const setup = (...options: readonly string[]) => line.run('webhooks', 'gmail', 'setup', ...options)
  return { ...line, read, setup }
}

const flags = ['--client-file', 'client.json', '--account', 'ada@example.com']
const pasting = { line: async () => code }

test('options alone set a mailbox up, each step is reported, and comments and order stay as they are', async (t) => {
  const { setup, read, cwd } = await begin(t, pasting)
  const { code: exit, out, err } = await setup(...flags)
  assert.equal(exit, 0, err)
  const text = await read()
  assert.ok(text.startsWith('# Ours.\nplugins: [./mail]\nhooks:\n  enabled: true\n'))
  assert.ok(text.includes('token: hook-token-of-ours # to be rotated\n'))
  const { gmail, presets } = parse(text).hooks
  assert.deepEqual(presets, ['gmail'])
  assert.deepEqual(gmail, {
    account: 'ada@example.com',
    topic: 'projects/harbour/topics/reveille-gmail',
    subscription: 'projects/harbour/subscriptions/reveille-gmail',
  })
  assert.match(err, /^✓ client {9}the client of harbour$/m)
  assert.match(err, /^✓ configuration {2}Wrote hooks\.gmail in reveille\.yaml\.$/m)
  assert.match(err, /^✓ preset {9}Added gmail to hooks\.presets/m)
  assert.match(err, /^https:\/\/accounts\.example\/consent\?state=1$/m, 'the address is alone on its line')
  assert.match(out, /^ada@example\.com is set up\.\n\n/)
  assert.match(out, /Start the gateway, which runs the source: `reveille start`/)
  const folder = path.join(cwd, 'data/sources/gmail')
  assert.equal((await stat(path.join(folder, 'credentials.json'))).mode & 0o777, 0o600)
})

test('a second run changes nothing: the file is the same, byte for byte, and was not even replaced', async (t) => {
  const { setup, read, cwd } = await begin(t, pasting)
  await setup(...flags)
  const before = await read()
  const { ino } = await stat(path.join(cwd, 'reveille.yaml'))
  const { code: exit, err } = await setup()
  assert.equal(exit, 0, err)
  assert.equal(await read(), before)
  assert.equal((await stat(path.join(cwd, 'reveille.yaml'))).ino, ino)
  assert.match(
    err,
    /^· client .*\n· consent .*\n· configuration {2}reveille\.yaml says it already\.\n· preset /m,
  )
})

test('a value that a reference gives already stays a reference', async (t) => {
  const { setup, read } = await begin(t, { ...pasting, env: { MAILBOX: 'ada@example.com' } })
  await setup(...flags)
  const text = await read()
  const { run, read: readOther } = await begin(
    t,
    { ...pasting, env: { MAILBOX: 'ada@example.com' } },
    { 'reveille.yaml': text.replace('account: ada@example.com', 'account: "${MAILBOX}"') },
  )
  const { code: exit, err } = await run('webhooks', 'gmail', 'setup', ...flags, '--label', 'Work')
  assert.equal(exit, 0, err)
  assert.match(await readOther(), /account: "\$\{MAILBOX\}"/)
  assert.match(await readOther(), /label: Work/)
})

test('a person is asked only for unknown values, and sees the error in an answer', async (t) => {
  const { output, prompts, isAnswered } = person({
    'The OAuth client': ['', "'client.json'"],
    'The mailbox': ['ada', 'ada@example.com'],
    'How should it notify': ['pull'],
    Address: [code],
  })
  const { setup, read } = await begin(t, { prompts, columns: 80 })
  const { code: exit, err } = await setup()
  assert.equal(exit, 0, err)
  assert.ok(isAnswered())
  assert.ok(output.includes(': It is required.'))
  assert.ok(output.includes('ada: It must be an address.'))
  assert.equal(parse(await read()).hooks.gmail.mode, 'pull')
  assert.ok(output.some((text) => /✓.* configuration {2}Wrote hooks\.gmail/.test(text)))

  output.length = 0
  const second = await setup()
  assert.equal(second.code, 0, second.err)
  const questions = output.filter((text) => text.startsWith('?'))
  assert.deepEqual(questions, [], 'nothing is asked again')
})

test('an empty answer means the default that the plugin offers', async (t) => {
  const { prompts, output, isAnswered } = person({ 'The mailbox': [''], 'How should': ['pull'] })
  const consent = JSON.stringify({ account: 'grace@example.com', refreshToken })
  const files = {
    'data/sources/gmail/credentials.json': consent,
    'data/sources/gmail/client.json': clientFile,
  }
  const { setup, read } = await begin(t, { prompts, columns: 80 }, files)
  const { code: exit, err } = await setup()
  assert.equal(exit, 0, err)
  assert.ok(isAnswered(), output.join())
  assert.equal(parse(await read()).hooks.gmail.account, 'grace@example.com')
})

test("the policy of the push endpoint is added to the operator's configuration", async (t) => {
  const own = configuration.replace(
    'hooks:\n',
    'hooks:\n  endpoints:\n    gmail/push: { rate: { endpoint: 60/1m } } # ours\n',
  )
  const { setup, read } = await begin(t, pasting, { 'reveille.yaml': own })
  const push = ['--mode', 'push', '--push-endpoint', 'https://hooks.example.com/hooks/gmail/push']
  const account = ['--push-service-account', 'push@harbour.iam.gserviceaccount.com']
  const { code: exit, err } = await setup(...flags, ...push, ...account, '--label', 'Work')
  assert.equal(exit, 0, err)
  const { endpoints, gmail } = parse(await read()).hooks
  assert.deepEqual(endpoints['gmail/push'].rate, { endpoint: '60/1m' })
  assert.equal(endpoints['gmail/push'].verify.serviceAccount, 'push@harbour.iam.gserviceaccount.com')
  assert.equal(gmail.label, 'Work')
})

test('a browser is opened where there is a screen, and the address is shown in any case', async (t) => {
  const opened: string[] = []
  const browse = async (url: string) => opened.push(url) > 0
  const screen = { DISPLAY: ':0' }
  const cases: readonly (readonly [Partial<Io>, readonly string[], number])[] = [
    [{ columns: 80, env: screen }, [], 1],
    [{ columns: 80, env: screen }, ['--no-browser'], 0],
    [{ env: screen }, [], 0],
    [{ columns: 80, env: { ...screen, SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' } }, [], 0],
  ]
  for (const [overrides, options, expected] of cases) {
    opened.length = 0
    const { setup } = await begin(t, { ...pasting, ...overrides, browse })
    const { code: exit, err } = await setup(...flags, ...options)
    assert.equal(exit, 0, err)
    assert.equal(opened.length, expected, JSON.stringify([overrides, options]))
    assert.match(err, /^https:\/\/accounts\.example\/consent/m)
  }
})

test('a browser that cannot be opened is no failure', async (t) => {
  const browse = () => Promise.reject(new Error('spawn xdg-open ENOENT'))
  const { setup } = await begin(t, { ...pasting, columns: 80, env: { DISPLAY: ':0' }, browse })
  const { code: exit, err } = await setup(...flags)
  assert.equal(exit, 0, err)
  assert.match(err, /Open this address in a browser/)
})

test('a refused consent is reported with the command that continues, and a second run does not ask for the client again', async (t) => {
  const answers = ['deny', code]
  const { setup, read } = await begin(t, { line: async () => answers.shift() ?? '' })
  const first = await setup(...flags)
  assert.equal(first.code, 1)
  assert.match(
    first.err,
    /Nobody consented\.\nWhat was done is kept: `reveille webhooks gmail setup` goes on from there\.\n$/,
  )
  assert.equal(await read(), configuration)
  const second = await setup('--account', 'ada@example.com')
  assert.equal(second.code, 0, second.err)
  assert.match(second.err, /^· client /m)
})

test('Ctrl-C ends the setup with exit code 1 and the command that continues', async (t) => {
  const { start, read } = await begin(t, {
    line: (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  })
  const going = start('webhooks', 'gmail', 'setup', ...flags)
  await going.until(/Address that the browser ends at/)
  const { code: exit, err } = await going.stop()
  assert.equal(exit, 1)
  assert.match(err, /Called off\. What was done is kept: `reveille webhooks gmail setup`/)
  assert.equal(await read(), configuration)
})

test('the answer as JSON holds every step and no secret, and only the data folder holds secrets', async (t) => {
  const { setup, read, cwd } = await begin(t, pasting)
  const { code: exit, out, err } = await setup(...flags, '--json')
  assert.equal(exit, 0, err)
  const answer = JSON.parse(out)
  assert.deepEqual(
    answer.steps.map(({ step, outcome }: { step: string; outcome: string }) => `${step} ${outcome}`),
    ['client done', 'consent done', 'configuration done', 'preset done'],
  )
  const { steps: _steps, ...facts } = answer
  assert.deepEqual(facts, {
    ok: true,
    account: 'ada@example.com',
    watchEnds: 1775000000000,
    warnings: [],
    configuration: { file: 'reveille.yaml', changed: true },
  })
  const files = (await readdir(cwd)).filter((name) => !['mail', 'data', 'client.json'].includes(name))
  const texts = await Promise.all(files.map((name) => read(name)))
  for (const secret of [clientSecret, refreshToken, code]) {
    for (const text of [out, err, ...texts]) assert.ok(!text.includes(secret), secret)
  }
  const again = JSON.parse((await setup('--json')).out)
  assert.deepEqual(again.configuration, { file: 'reveille.yaml', changed: false })
})

test('there are warnings about an address that does not lead to the gateway, and about files that its user may not read', async (t) => {
  const { setup, cwd } = await begin(t, { ...pasting, columns: 60 })
  const warningsOf = async (...options: readonly string[]): Promise<string> =>
    JSON.parse((await setup(...options, '--json')).out).warnings.join('\n')
  const account = ['--push-service-account', 'push@harbour.iam.gserviceaccount.com']
  const push = (at: string) => [
    '--mode',
    'push',
    ...account,
    '--push-endpoint',
    `https://hooks.example.com${at}`,
  ]
  assert.match(
    await warningsOf(...flags, ...push('/hooks/gmail/pus')),
    /gmail\/pus, and the gateway takes them at \/hooks\/gmail\/push: correct/,
  )
  assert.equal(await warningsOf(...push('/behind/a/proxy/gmail/push')), '')
  if (process.getuid?.() !== 0) return t.diagnostic('only root can give files away')
  await chown(path.join(cwd, 'data'), 65_534, 65_534)
  assert.match(await warningsOf(...push('/hooks/gmail/push')), /`chown -R 65534:65534 .*\/data\/sources`/)
})

test('a failure is broken to the width of the terminal, and a command to be pasted stays on one line', async (t) => {
  const { setup } = await begin(t, { line: async () => 'deny', columns: 40 })
  const { err } = await setup(...flags)
  assert.match(
    err,
    /Nobody consented\.\nWhat was done is kept:\n`reveille webhooks gmail setup` goes on\nfrom there\.\n$/,
  )
})

test('a failure as JSON has a code, a sentence, and the steps that were done before', async (t) => {
  const { setup } = await begin(t, { line: async () => 'deny' })
  const { code: exit, out, err } = await setup(...flags, '--json')
  assert.equal(exit, 1)
  const { ok, code: failure, message, steps } = JSON.parse(out)
  assert.deepEqual([ok, failure, steps.length], [false, 'consent-denied', 1])
  assert.match(message, /^Nobody consented\./)
  assert.doesNotMatch(err, /Nobody consented/)
})

test('without a terminal, missing values are reported at once', async (t) => {
  const { setup } = await begin(t)
  const { code: exit, err } = await setup()
  assert.equal(exit, 1)
  assert.match(err, /^There is no OAuth client\./)
})

test('an option that the plugin refuses is bad usage, as JSON too', async (t) => {
  const { setup } = await begin(t)
  const { code: exit, err } = await setup('--client-file', 'none.json')
  assert.equal(exit, 2)
  assert.match(err, /It is not JSON/)
  const asked = await setup('--client-file', 'none.json', '--json')
  assert.equal(asked.code, 2)
  assert.match(JSON.parse(asked.out).message, /It is not JSON/)
})

test('options of a wrong form are bad usage', async (t) => {
  const { setup } = await begin(t)
  for (const option of [
    ['--account', 'ada'],
    ['--mode', 'poll'],
    ['--max-bytes', '0'],
    ['--max-bytes', '1e3'],
    ['--renew-minutes', '8641'],
    ['--push-endpoint', 'hooks.example.com'],
    ['--push-service-account', 'push'],
  ]) {
    assert.equal((await setup(...option)).code, 2, option.join(' '))
  }
})

test('without a configuration the command names init', async (t) => {
  const line = await createCommandLine(t, {})
  const { code: exit, err } = await line.run('webhooks', 'gmail', 'setup')
  assert.equal(exit, 2)
  assert.match(err, /There is no reveille\.yaml .* reveille init/s)
})

test('an error elsewhere in the configuration is reported before a consent is asked for', async (t) => {
  const { setup } = await begin(t, pasting, { 'reveille.yaml': `${configuration}agent: {}\n` })
  const { code: exit, err } = await setup(...flags)
  assert.equal(exit, 1)
  assert.match(err, /reveille\.yaml:8:1: error: `agent` is not a known key/)
  assert.doesNotMatch(err, /accounts\.example/)
})

test('invalid values of a mailbox in the configuration are replaced, and valid ones stay', async (t) => {
  const wrong = configuration.replace(
    'hooks:\n',
    'hooks:\n  gmail:\n    account: 5\n    label: Work # ours\n    lable: Home\n    model: openai/gpt-5.2\n',
  )
  const { setup, read } = await begin(t, pasting, { 'reveille.yaml': wrong })
  const { code: exit, err } = await setup(...flags)
  assert.equal(exit, 0, err)
  const text = await read()
  assert.match(text, /label: Work # ours/)
  assert.deepEqual(parse(text).hooks.gmail, {
    account: 'ada@example.com',
    label: 'Work',
    model: 'openai/gpt-5.2',
    topic: 'projects/harbour/topics/reveille-gmail',
    subscription: 'projects/harbour/subscriptions/reveille-gmail',
  })
})

test('a configuration that would not load with the mailbox in it stays as it was', async (t) => {
  const full = configuration.replace('hooks:\n', 'hooks:\n  presets: gmail\n')
  const { setup, read } = await begin(t, pasting, { 'reveille.yaml': full })
  const { code: exit } = await setup(...flags)
  assert.equal(exit, 1)
  assert.equal(await read(), full)
})

test('a file that cannot be replaced is reported with the lines that belong there, and the next run continues', async (t) => {
  const { setup, read, cwd } = await begin(t, pasting)
  const inTheWay = path.join(cwd, `reveille.yaml.${process.pid}.next`)
  await mkdir(inTheWay)
  const { code: exit, out } = await setup(...flags, '--json')
  assert.equal(exit, 1)
  const { ok, message } = JSON.parse(out)
  assert.equal(ok, false)
  assert.match(message, /^reveille\.yaml or the \.env beside it cannot be written \(EISDIR\)\./)
  assert.deepEqual(parse(message.slice(message.indexOf('\n\n'))).hooks.presets, ['gmail'])
  assert.equal(await read(), configuration)
  await rm(inTheWay, { recursive: true })
  const second = await setup('--account', 'ada@example.com')
  assert.equal(second.code, 0, second.err)
  assert.match(second.err, /^· consent /m)
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
  const { setup, read, cwd } = await begin(t, { line, env }, { 'reveille.yaml': own })
  file = path.join(cwd, 'reveille.yaml')
  const { code: exit, err } = await setup(...flags)
  assert.equal(exit, 0, err)
  assert.match(await read(), /# theirs\n$/)
  assert.ok(parse(await read()).hooks.gmail)
  assert.equal(err.match(/^✓ configuration/gm)?.length, 1)
})

test('a change back to pull removes the policy of push, and nothing else', async (t) => {
  const policy = 'verify: { provider: google-pubsub, audience: https://a/b, serviceAccount: a@b }'
  const cases = [
    [`\n    gmail/push: { ${policy} }`, undefined],
    [`\n    other: {}\n    gmail/push:\n      ${policy}`, { other: {} }],
    [
      `\n    gmail/push:\n      ${policy} # ours\n      maxBodyBytes: 9000`,
      { 'gmail/push': { maxBodyBytes: 9000 } },
    ],
    ['\n    gmail/push: { maxBodyBytes: 9000 }', { 'gmail/push': { maxBodyBytes: 9000 } }],
  ] as const
  const pushed = configuration.replace(
    'hooks:\n',
    `hooks:\n  gmail: { account: ada@example.com, topic: t, subscription: s, mode: push }\n  presets: [gmail]\n`,
  )
  for (const [endpoints, left] of cases) {
    const text = pushed.replace('hooks:\n', `hooks:\n  endpoints:${endpoints}\n`)
    const { setup, read } = await begin(t, pasting, { 'reveille.yaml': text })
    const { code: exit, err } = await setup(...flags, '--mode', 'pull')
    assert.equal(exit, 0, err)
    const { hooks } = parse(await read())
    assert.equal(hooks.gmail.mode, 'pull')
    assert.deepEqual(hooks.endpoints, left)
    if (left === undefined)
      assert.match(err, /Wrote hooks\.gmail, took out hooks\.endpoints in reveille\.yaml/)
  }
})

test('a removed preset is not added again where another mapping takes the mails', async (t) => {
  const { setup, read, write } = await begin(t, pasting)
  await setup(...flags)
  const own = (await read()).replace(/ +presets:.*\n( +- gmail\n)?/, '')
  assert.doesNotMatch(own, /presets/)
  await write(
    'mappings/mail.yaml',
    'mappings:\n  - { id: mail, match: { path: gmail }, action: wake, text: Mail }\n',
  )
  await write('reveille.yaml', own)
  const { code: exit, err } = await setup()
  assert.equal(exit, 0, err)
  assert.equal(await read(), own)
  assert.match(err, /^· preset /m)
})

test('references in an incomplete mailbox are used and stay; one that is not set is reported first', async (t) => {
  const begun = configuration.replace(
    'hooks:\n',
    'hooks:\n  gmail:\n    account: "${MAILBOX}" # ours\n    label: "${LABEL}"\n',
  )
  const files = { 'reveille.yaml': begun }
  const env = { MAILBOX: 'ada@example.com', LABEL: 'Work' }
  const { setup, read } = await begin(t, { ...pasting, env }, files)
  const { code: exit, err } = await setup('--client-file', 'client.json')
  assert.equal(exit, 0, err)
  assert.match(await read(), /account: "\$\{MAILBOX\}" # ours\n {4}label: "\$\{LABEL\}"\n {4}topic: projects/)

  const other = await begin(t, { ...pasting, env: { MAILBOX: 'ada@example.com' } }, files)
  const refused = await other.setup(...flags)
  assert.equal(refused.code, 1)
  assert.match(refused.err, /refers to the variable LABEL, which is not set[\s\S]*Fix this first\.\n$/)
  assert.doesNotMatch(refused.err, /is required/, 'what setup would write is nobody’s to fix')
  assert.equal(await other.read(), begun)
})

test('there is a warning about a preset on another endpoint, since mails are not posted there', async (t) => {
  const elsewhere = configuration.replace('hooks:\n', 'hooks:\n  presets: [{ name: gmail, path: post }]\n')
  const { setup } = await begin(t, pasting, { 'reveille.yaml': elsewhere })
  const { code: exit, err } = await setup(...flags)
  assert.equal(exit, 0, err)
  assert.match(err, /^! No mapping takes the endpoint gmail, where events are posted: they are ignored\.$/m)
})

test('there are warnings about hooks that are off, a missing channel and a missing route', async (t) => {
  const off = 'plugins: [./mail]\n'
  const { setup } = await begin(t, pasting, { 'reveille.yaml': off })
  const { err, code: exit } = await setup(...flags)
  assert.equal(exit, 0, err)
  assert.match(err, /^! hooks\.enabled is not true/m)
  assert.match(err, /^! There is no channel for replies yet: `reveille init channel slack`$/m)
  const routeless = configuration.replace(/agents:.*\n/, '')
  const other = await begin(t, pasting, { 'reveille.yaml': routeless })
  assert.match((await other.setup(...flags)).err, /^! Nothing says where replies go/m)
})

test('commands to be pasted do not name the configuration that is found in local, whose mode stays', async (t) => {
  const files = Object.fromEntries(Object.entries(mailPlugin).map(([name, text]) => [`local/${name}`, text]))
  const line = await createCommandLine(
    t,
    { ...files, 'local/reveille.yaml': configuration, 'client.json': clientFile },
    pasting,
  )
  const file = path.join(line.cwd, 'local/reveille.yaml')
  await chmod(file, 0o640)
  const { code: exit, out, err } = await line.run('webhooks', 'gmail', 'setup', ...flags)
  assert.equal(exit, 0, err)
  assert.match(out, /`reveille start`/)
  assert.equal((await stat(file)).mode & 0o777, 0o640)
})

test('the answer of a service cannot control the terminal', async (t) => {
  const { setup } = await begin(t, pasting)
  assert.ok(!(await setup(...flags)).err.includes('\u001b'))
})

test('`webhooks` and `webhooks gmail` alone list their commands', async (t) => {
  const { run } = await begin(t)
  assert.match((await run('webhooks')).err, /Usage: reveille webhooks [\s\S]*gmail /)
  assert.match(
    (await run('webhooks', 'gmail')).err,
    /Usage: reveille webhooks gmail [\s\S]*setup [\s\S]*run /,
  )
})

test('there is a screen with a display, on a desktop or in WSL, and none in a remote session', () => {
  assert.deepEqual(
    [
      hasScreen({}, 'linux'),
      hasScreen({ DISPLAY: '' }, 'linux'),
      hasScreen({ SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, 'darwin'),
      hasScreen({ DISPLAY: ':10', SSH_TTY: '/dev/pts/1' }, 'linux'),
    ],
    [false, false, false, false],
  )
  assert.ok(hasScreen({}, 'darwin') && hasScreen({}, 'win32'))
  assert.ok(
    hasScreen({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux') && hasScreen({ WSL_DISTRO_NAME: 'Debian' }, 'linux'),
  )
})
