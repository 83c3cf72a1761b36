import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { failureOf } from '@reveille/kit/fake-server'
import { atEnd } from '../../test/at-end.ts'
import type { ArgumentList, CommandConfiguration } from './configuration.ts'
import { isAlive, openCall, setUpRunner, turnOf } from './fake-programs/fake-program.ts'

const posix = { skip: process.platform === 'win32' && 'Windows has no process groups' }

/** A runner of a program that is this code; `args` follow the script's name. */
async function open(t: TestContext, code: string, config: CommandConfiguration = {}) {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-command-')))
  atEnd(t, () => rm(folder, { recursive: true, force: true }))
  const script = path.join(folder, 'program.mjs')
  await writeFile(script, code)
  const { args = [], ...rest } = config
  const given = { command: process.execPath, args: [script, ...args], cwd: folder, ...rest }
  return { folder, ...(await setUp(t, given)) }
}

async function setUp(t: TestContext, config: CommandConfiguration) {
  const { runner, close } = await setUpRunner({ killGrace: '50ms', ...config })
  atEnd(t, close)
  return { runner, close }
}

const echoArguments = 'console.log(JSON.stringify(process.argv.slice(2)))'
const echoInput = `import { readFileSync } from 'node:fs'
process.stdout.write(readFileSync(0, 'utf8'))`

async function argumentsOf(
  t: TestContext,
  args: ArgumentList,
  more: CommandConfiguration,
  turn = turnOf('Look.'),
) {
  const { runner } = await open(t, echoArguments, { args, ...more })
  return JSON.parse((await runner.run(turn, openCall())).reply) as string[]
}

test('a reply in plain text loses its colours and its last line end, and its lines are reported as progress', async (t) => {
  const { runner } = await open(t, String.raw`process.stdout.write('\x1b[1mOne\x1b[0m\n  two\n\n')`)
  const call = openCall()
  assert.deepEqual(await runner.run(turnOf('Look.'), call), { reply: 'One\n  two' })
  assert.deepEqual(call.reported, [{ text: 'One\n  two\n\n' }])
})

test('a prompt of a megabyte is passed whole, even to a program that does not read it', async (t) => {
  const prompt = 'ä'.repeat(500_000)
  const reading = await open(t, echoInput)
  assert.equal((await reading.runner.run(turnOf(prompt), openCall())).reply, prompt)
  const deaf = await open(t, "process.stdin.destroy(); console.log('done')")
  assert.equal((await deaf.runner.run(turnOf(prompt), openCall())).reply, 'done')
})

test('arguments are passed unchanged and without a shell', async (t) => {
  const evil = '$(touch owned) `touch owned` ; touch owned & > owned "\' \n*'
  const { folder, runner } = await open(t, echoArguments, {
    args: ['a b', '--prompt={prompt}'],
    input: 'argument',
  })
  const { reply } = await runner.run(turnOf(evil), openCall())
  assert.deepEqual(JSON.parse(reply), ['a b', `--prompt=${evil}`])
  assert.deepEqual(await readdir(folder), ['program.mjs'])
})

test('an argument, or a list of them, is left out if one of its values is absent', async (t) => {
  const args = [
    '--model={model}',
    ['-t', '{thinking}'],
    ['-n', '{attempt}'],
    '{kind} of {sessionKey}',
    '{{model}} {}',
  ]
  const bare = ['-n', '1', 'run of hook:pull:7', '{model} {}']
  assert.deepEqual(await argumentsOf(t, args, {}), bare)
  const full = turnOf('Look.', { model: 'x/y', thinking: 'low', timeoutSeconds: 9.9 })
  const given = ['--model=x/y', '-t', 'low', ...bare, '9', '-o', 'low']
  assert.deepEqual(
    await argumentsOf(t, [...args, '{timeoutSeconds}'], { thinking: { low: [['-o', 'low']] } }, full),
    given,
  )
})

test('a value never becomes a flag', async (t) => {
  const input = 'argument'
  const turn = turnOf('--dangerously-run-everything')
  assert.deepEqual(await argumentsOf(t, ['-p={prompt}'], { input }, turn), [`-p=${turn.prompt}`])
  assert.deepEqual(await argumentsOf(t, ['--', '{prompt}'], { input }, turn), ['--', turn.prompt])
  const { runner } = await open(t, echoArguments, { args: ['-p', '{prompt}'], input })
  const error = await failureOf(runner.run(turn, openCall()))
  assert.deepEqual([error.code, error.retryable], ['bad-value', false])
  assert.match(error.message, /prompt begins with a dash/)
  assert.equal((await failureOf(runner.run(turnOf('a\0b'), openCall()))).code, 'bad-value')
  const model = await failureOf(runner.run(turnOf('Look.', { model: '-x' }), openCall()))
  assert.deepEqual([model.code, model.retryable], ['bad-value', false])
})

test("the program sees harmless, allowed and configured variables, and never the gateway's own", async (t) => {
  const secrets = { REVEILLE_GATEWAY_TOKEN: 'gateway-token', OTHER_TOKEN: 'other', VENDOR_KEY: 'vendor' }
  Object.assign(process.env, secrets)
  atEnd(t, () => {
    for (const name of Object.keys(secrets)) delete process.env[name]
  })
  const config = {
    env: { ASKED: '{runId} {model}', KIND: '{kind}', HOME: '/elsewhere' },
    envAllow: ['VENDOR_*'],
  }
  const { folder, runner } = await open(t, 'console.log(JSON.stringify(process.env))', config)
  const seen = JSON.parse((await runner.run(turnOf('Look.'), openCall())).reply) as Record<string, string>
  assert.equal(seen['PATH'], process.env['PATH'])
  const xdg = Object.entries(process.env).filter(([name]) =>
    /^XDG_(CONFIG|DATA|STATE|CACHE)_HOME$/.test(name),
  )
  const shown = Object.entries(seen).filter(([name]) => /REVEILLE|TOKEN|VENDOR|ASKED|KIND|HOME$/.test(name))
  assert.deepEqual(Object.fromEntries(shown), {
    REVEILLE_RUN: 'run-1',
    REVEILLE_SESSION: 'hook:pull:7',
    VENDOR_KEY: 'vendor',
    KIND: 'run',
    HOME: '/elsewhere',
    ...Object.fromEntries(xdg),
  })
  if (process.platform !== 'win32') assert.equal(seen['PWD'], folder)
})

test('with input json the program reads the whole turn on one line', async (t) => {
  const code = `import { createInterface } from 'node:readline'
    for await (const line of createInterface(process.stdin)) {
      const turn = JSON.parse(line)
      console.log(JSON.stringify({ answer: { text: Object.keys(turn).join() + turn.history[0].text + turn.thinking } }))
    }`
  const config = { input: 'json', session: 'ours', output: { format: 'json', text: '/answer/text' } } as const
  const { runner } = await open(t, code, config)
  const history = [{ role: 'user', text: ' Earlier ', at: 1 }] as const
  const turn = turnOf('Two\nlines.', { history, model: 'x/y', thinking: 'low', systemPrompt: 'Be brief.' })
  const { reply, state, warnings } = await runner.run(turn, openCall())
  const keys = 'runId,sessionKey,session,kind,prompt,events,history,model,thinking,systemPrompt,attempt'
  assert.equal(reply, `${keys} Earlier low`)
  assert.match(state ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(warnings, undefined)
})

test('a compaction passes its history to a program that otherwise gets none', async (t) => {
  const { runner } = await open(t, echoInput, { history: false })
  const history = [{ role: 'user', text: 'Earlier.', at: 1 }] as const
  const { reply } = await runner.run(turnOf('Look.', { history }), openCall())
  assert.equal(reply, 'Look.')
  const summary = await runner.run(turnOf('Sum up.', { history, kind: 'compaction' }), openCall())
  assert.match(summary.reply, /\{"role":"user","text":"Earlier\."\}\n\n.*\n\nSum up\.$/s)
})

test('the result warns about settings that the program cannot be given', async (t) => {
  const { runner } = await open(t, echoInput)
  const { warnings } = await runner.run(turnOf('Look.', { model: 'x/y', thinking: 'low' }), openCall())
  assert.match(warnings?.join('\n') ?? '', /thinking low.*\n.*x\/y was ignored/)
})

test('an exit code fails the turn with the end of standard error, without secrets', async (t) => {
  const code = `for (let line = 1; line <= 500; line += 1) console.error('line ' + line + ' '.repeat(line % 3))
    console.error('\\x1b[31mfatal: ' + process.env.KEY + ' is wrong\\x1b[0m\\n\\n')
    process.exitCode = 7`
  const { runner } = await open(t, code, { env: { KEY: 'sk-very-secret' }, retryableExitCodes: [75] })
  const error = await failureOf(runner.run(turnOf('Look.'), openCall()))
  assert.deepEqual([error.code, error.retryable], ['exit', false])
  assert.match(
    error.message,
    /ended with code 7: line 482\nline 483\n.*line 500\nfatal: \[redacted\] is wrong$/s,
  )
})

test('only configured exit codes are retryable', async (t) => {
  const { runner } = await open(t, 'process.exit(75)', { retryableExitCodes: [75] })
  const error = await failureOf(runner.run(turnOf('Look.'), openCall()))
  assert.deepEqual([error.code, error.retryable], ['exit', true])
  assert.match(error.message, /ended with code 75 and said nothing\.$/)
})

test('a long error output keeps its end', async (t) => {
  const { runner } = await open(t, "console.error('x'.repeat(5000) + ' the reason'); process.exitCode = 1")
  const { message } = await failureOf(runner.run(turnOf('Look.'), openCall()))
  assert.ok(message.length <= 1000)
  assert.match(message, /: …x+ the reason$/)
})

test('the error of a program that is killed from outside names the signal', posix, async (t) => {
  const { runner } = await open(t, "process.kill(process.pid, 'SIGKILL')")
  const { message } = await failureOf(runner.run(turnOf('Look.'), openCall()))
  assert.match(message, /was ended by SIGKILL/)
})

test('a missing program or folder is named with what to do', posix, async (t) => {
  const { folder, runner } = await open(t, '', { command: 'no-such-agent', env: { PATH: '/nowhere' } })
  const missing = await failureOf(runner.run(turnOf('Look.'), openCall()))
  assert.deepEqual([missing.code, missing.retryable], ['not-found', false])
  assert.match(missing.message, /no-such-agent was not found.*PATH of the gateway: \/nowhere/)
  const file = await setUp(t, { command: path.join(folder, 'program.mjs'), cwd: folder })
  const unfit = await failureOf(file.runner.run(turnOf('Look.'), openCall()))
  assert.deepEqual([unfit.code, unfit.retryable], ['not-found', false])
  assert.match(unfit.message, /may not be run \(EACCES\)/)
  const lost = await setUp(t, { command: process.execPath, cwd: path.join(folder, 'gone') })
  const away = await failureOf(lost.runner.run(turnOf('Look.'), openCall()))
  assert.deepEqual([away.code, away.retryable], ['not-found', false])
  assert.match(away.message, /gone/)
})

test('a prompt too long for an argument gets an error that names another input', posix, async (t) => {
  const { runner } = await open(t, echoArguments, { args: ['-p={prompt}'], input: 'argument' })
  const error = await failureOf(runner.run(turnOf('x'.repeat(4_000_000)), openCall()))
  assert.deepEqual([error.code, error.retryable], ['too-long', false])
})

test('a program with endless output is stopped at the limit', async (t) => {
  const code = `console.error(process.pid)
    const flood = () => process.stdout.write('x'.repeat(65536), flood)
    flood()`
  const { runner } = await open(t, code, { maxOutputBytes: 100_000 })
  const error = await failureOf(runner.run(turnOf('Look.'), openCall()))
  assert.deepEqual([error.code, error.retryable], ['too-much-output', false])
})

test('an error about unreadable output shows its beginning', async (t) => {
  const code = "console.log('Usage: ' + process.env.KEY + 'x'.repeat(1000))"
  for (const format of ['json', 'jsonl'] as const) {
    const { runner } = await open(t, code, {
      env: { KEY: 'sk-very-secret' },
      output: { format, text: '/text' },
    })
    const error = await failureOf(runner.run(turnOf('Look.'), openCall()))
    assert.deepEqual([error.code, error.retryable], ['bad-output', false])
    assert.match(error.message, /begins with: Usage: \[redacted\]x+$/)
    assert.ok(error.message.length < 400)
  }
})

test('an error in the output fails the turn even with exit code 0', async (t) => {
  const code = "console.log(JSON.stringify({ text: 'Quota exceeded.', bad: process.argv[2] === 'yes' }))"
  const output = { format: 'json', text: '/text', error: '/bad' } as const
  const good = await open(t, code, { args: ['no'], output })
  assert.equal((await good.runner.run(turnOf('Look.'), openCall())).reply, 'Quota exceeded.')
  const bad = await open(t, code, { args: ['yes'], output })
  const error = await failureOf(bad.runner.run(turnOf('Look.'), openCall()))
  assert.deepEqual([error.code, error.retryable], ['failed', false])
  assert.match(error.message, /says that it failed: Quota exceeded\.$/)
})

test('without patterns for it, any failure of a continued conversation begins a new one, once', async (t) => {
  const code = `import { appendFileSync } from 'node:fs'
    appendFileSync('tries', process.argv[2] + '\\n')
    if (process.argv[2] !== 'start' || process.env.ALWAYS) process.exit(3)
    console.log(JSON.stringify({ text: 'new', id: 'conversation-2' }))`
  const config: CommandConfiguration = {
    start: ['start'],
    resume: ['{session}'],
    session: 'theirs',
    output: { format: 'json', text: '/text', session: '/id' },
  }
  const { folder, runner } = await open(t, code, config)
  const result = await runner.run(turnOf('Look.', { state: 'conversation-1' }), openCall())
  assert.deepEqual([result.reply, result.state], ['new', 'conversation-2'])
  assert.match(result.warnings?.join() ?? '', /no longer had the conversation/)
  assert.equal(await readFile(path.join(folder, 'tries'), 'utf8'), 'conversation-1\nstart\n')

  const failing = await open(t, code, { ...config, env: { ALWAYS: 'yes' } })
  const error = await failureOf(failing.runner.run(turnOf('Look.', { state: 'c' }), openCall()))
  assert.equal(error.code, 'exit')
  assert.equal(await readFile(path.join(failing.folder, 'tries'), 'utf8'), 'c\nstart\n')

  const patient = await open(t, code, { ...config, retryableExitCodes: [3] })
  const passing = await failureOf(patient.runner.run(turnOf('Look.', { state: 'c' }), openCall()))
  assert.equal(passing.retryable, true)
  assert.equal(await readFile(path.join(patient.folder, 'tries'), 'utf8'), 'c\n')
})

test('the result warns about a program that names no conversation, or an unusable one', async (t) => {
  const output = { format: 'json', text: '/text', session: '/id' } as const
  for (const id of ['', 'two\\nlines']) {
    const { runner } = await open(t, `console.log('{"text":"ok","id":"${id.replace('\\', '\\\\')}"}')`, {
      session: 'theirs',
      output,
    })
    const { state, warnings } = await runner.run(turnOf('Look.'), openCall())
    assert.equal(state, undefined)
    assert.match(warnings?.join() ?? '', /named no conversation/)
  }
})

test('a turn that is aborted before it starts runs nothing', async (t) => {
  const { folder, runner } = await open(
    t,
    "import { writeFileSync } from 'node:fs'; writeFileSync('ran', '')",
  )
  const error = await failureOf(runner.run(turnOf('Look.'), openCall(AbortSignal.abort())))
  assert.deepEqual([error.code, error.retryable], ['aborted', true])
  assert.deepEqual(await readdir(folder), ['program.mjs'])
})

test('closing the plugin stops its programs and waits for them', posix, async (t) => {
  const { close, runner } = await open(t, 'console.log(process.pid); setInterval(() => {}, 1000)')
  const started = Promise.withResolvers<number>()
  const onProgress = ({ text = '' }) => started.resolve(Number(text))
  const running = failureOf(runner.run(turnOf('Look.'), { ...openCall(), onProgress }))
  const pid = await started.promise
  await close()
  assert.equal((await running).code, 'aborted')
  assert.equal(await isAlive(pid), false)
  assert.equal((await failureOf(runner.run(turnOf('Look.'), openCall()))).code, 'aborted')
})

test('a gateway that ends without closing its plugins kills its programs', posix, async (t) => {
  const { folder } = await open(
    t,
    "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 9)",
  )
  const config = { command: process.execPath, args: [path.join(folder, 'program.mjs')], cwd: folder }
  const gateway = `import command from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
    const { signal } = new AbortController()
    const { runners } = await command.setup({ config: ${JSON.stringify(config)}, signal })
    const onProgress = ({ text }) => { process.stdout.write(text, () => process.exit(1)) }
    await runners[0].run({ sessionKey: 'main', runId: '1', prompt: 'x', history: [], attempt: 1 }, { signal, onProgress })`
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', gateway], { env })
  const { code, stdout } = await run.then(
    () => assert.fail('it exits by itself'),
    (error: { code: number; stdout: string }) => error,
  )
  assert.equal(code, 1)
  while (await isAlive(Number(stdout))) await wait(5)
})
