/** Tests how requests are found, shown and forgotten by commands, on a running gateway. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gatewayToken, hookToken, install, until } from '../../../test/installation.ts'
import { assertAnswer, createCommandLine } from '../io-fixture.ts'

const apiKey = 'sk-4fK29sLq0ZpVx81mWnB7cRtY'
const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks:
  enabled: true
  token: ${hookToken}
  endpoints: { github: { verify: { provider: github, secret: ${apiKey} }, auth: token } }
history: { bodies: all }
channels: { terminal: {} }
`
const mapping = `mappings:
  - id: pushed
    match: { path: github }
    message: "A push to {{ref}}"
    deliver: false
    wakeMode: next-heartbeat
`
const delivery = '72d3162e-cc78-11e3-81ab-4c9367dc0958'

async function open(t: TestContext) {
  const installed = await install(t, { 'reveille.yaml': configuration, 'mappings/github.yaml': mapping })
  const env = { REVEILLE_URL: await installed.gateway.listen(), REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const { run, runIn } = await createCommandLine(t, {}, { fetch, env, now: Date.now })
  const push = async (ref: string, headers: Record<string, string> = {}) => {
    const { body } = await installed.post('/hooks/github', { ref }, headers)
    await installed.ended(body['runId'])
    return { request: String(body['requestId']), run: String(body['runId']) }
  }
  return { ...installed, run, runIn, push }
}

test('requests are listed by each of their facts, and any id finds its record, whatever its kind', async (t) => {
  const { run, push } = await open(t)
  const pushed = await push('main', { 'x-github-delivery': delivery })
  await push('other')
  const count = async (...filters: string[]) =>
    JSON.parse((await run('requests', ...filters, '--json')).out).items.length
  for (const [filters, expected] of [
    [[], 2],
    [['--delivery', delivery], 1],
    [['--mapping', 'pushed', '--outcome', 'accepted', '--endpoint', 'github'], 2],
    [['--mapping', 'other'], 0],
    [['--generation', '1'], 2],
    [['--generation', '2'], 0],
    [['--client', '127.0.0.1'], 2],
    [['--code', 'TRANSFORM_FAILED'], 0],
    [['--since', '1h'], 2],
    [['--since', '2000-01-01', '--until', '2000-01-02'], 0],
    [['--until', '1h'], 0],
  ] as const)
    assert.equal(await count(...filters), expected, filters.join(' '))
  const page = await run('requests', '--limit', '1', '--since', '1h')
  assert.match(page.err, /^More: reveille list requests --limit 1 --since 1h --cursor /)

  const ofRun = await run('requests', pushed.run.slice(-6))
  assert.equal(ofRun.err, `${pushed.run.slice(-6)} names one of the runs.\n`)
  assert.match(ofRun.out, new RegExp(`^id: ${pushed.run}$`, 'm'))
  for (const name of [pushed.request, pushed.request.slice(-6), delivery]) {
    const found = await run('runs', name)
    assert.match(found.out, new RegExp(`^id: ${pushed.request}$`, 'm'), name)
  }
  assert.match((await run('runs', `hook:${pushed.run}`)).out, / {2}user {2}run [0-9a-f]{6}\n/)
  assert.deepEqual(await run('runs', 'cafe12'), {
    code: 1,
    out: '',
    err: 'Nothing is called cafe12: give an id whole, or at least its last 4 characters.\n',
  })
})

test('a request is shown with its headers, its body without known secrets, and to a terminal as printable text', async (t) => {
  const { run, runIn, push, post } = await open(t)
  const { request } = await push(`a${apiKey}b`, { 'x-note': apiKey })
  const id = request.slice(-6)
  const shown = await run('requests', id)
  assert.match(shown.out, /^headers:\n[\s\S]* {2}x-note: "\[redacted\]"$/m)
  assert.ok(!shown.out.includes(apiKey))
  assert.match(shown.out, new RegExp(`^next: reveille show ${id} --body \\| reveille replay ${id}$`, 'm'))
  assert.deepEqual(await run('requests', id, '--body'), {
    code: 0,
    out: '{"ref":"a[redacted]b"}',
    err: '',
  })
  assert.equal((await run('requests', id, '--raw')).out, JSON.stringify({ ref: `a${apiKey}b` }))
  const json = JSON.parse((await run('requests', id, '--body', '--json')).out)
  assert.deepEqual(json, { id: request, bytes: 22, text: '{"ref":"a[redacted]b"}' })
  assert.deepEqual(
    [(await run('requests', '--body')).code, (await run('requests', id, '--limit', '3')).code],
    [2, 2],
  )

  const { body } = await post('/hooks/github', '{"ref":"\\u001b","raw":"\u0007"}')
  const odd = String(body['requestId'])
  const printable = await runIn({ columns: 80 }, 'requests', odd, '--body')
  assert.ok(!/\p{Cc}/u.test(printable.out.replaceAll('\n', '')), JSON.stringify(printable.out))
  const err = /^--raw writes the bytes as they came: send them to a file/
  assertAnswer(await runIn({ columns: 80 }, 'requests', odd, '--raw'), { code: 2, out: '', err })
})

test('forgetting asks first, erases the chosen records, and names those that it cannot erase', async (t) => {
  const chosen: string[] = []
  const prompts = async () =>
    ({
      async choose(message: string, choices: readonly string[]) {
        chosen.push(message, ...choices)
        return choices[answer] ?? ''
      },
    }) as never
  let answer = 0
  const { run, runIn, push } = await open(t)
  const [one, two] = [await push('one'), await push('two')]
  const id = one.request.slice(-6)
  const without = 'This erases the texts of 1 request with what came of it for good. Say --yes to do so.\n'
  assert.deepEqual(await run('forget', id), { code: 2, out: '', err: without }, 'without a terminal')
  assert.deepEqual(await runIn({ prompts }, 'forget', id), {
    code: 1,
    out: '',
    err: 'Nothing was forgotten.\n',
  })
  assert.deepEqual(chosen, [
    'This cannot be undone.',
    'No',
    'Erase the texts of 1 request with what came of it',
  ])
  answer = 1
  assert.deepEqual(await runIn({ prompts }, 'forget', id), {
    code: 0,
    out: '1 request forgotten.\n',
    err: '',
  })
  assert.match((await run('requests', id, '--body')).err, /^It was forgotten at /)
  assert.match((await run('requests', id)).out, /^forgottenAt: \d{4}-/m)

  const all = await run('forget', '--endpoint', 'github', '--since', '1h', '--yes', '--json')
  assert.deepEqual([all.code, JSON.parse(all.out).refused], [0, []])
  assert.match((await run('requests', two.request, '--body')).err, /^It was forgotten at /)
  for (const args of [['forget'], ['forget', id, '--endpoint', 'github']])
    assert.equal((await run(...args)).code, 2)
  await until(async () => (await run('forget', '--outcome', 'failed')).out || undefined, 'an answer')
})

test('a stored request becomes a test, and is explained and tried again by its id', async (t) => {
  const { run, push, write, gateway } = await open(t)
  const { request } = await push('main', { 'x-github-event': 'push' })
  const { code, out } = await run('requests', request.slice(-8), '--as-test')
  assert.equal(code, 0)
  assert.match(out, /^tests:\n {2}- name: a request to github is accepted by pushed \(\w{6}\)\n/)
  assert.match(
    out,
    /\n {6}body:\n {8}ref: main\n[\s\S]*\n {4}expect:\n {6}mapping: pushed\n {6}action: agent\n$/,
  )
  await write('mappings/recorded.yaml', out)
  assert.deepEqual((await gateway.reload()).diagnostics, [])
  assert.match((await run('requests', '--as-test')).err, /^Name the record: --as-test goes with an id\./)
  const explained = await run('explain', request)
  assert.match(
    explained.out,
    /^\/github {2}202 {2}accepted {2}by pushed\n\n✓ pushed {2}mappings\/github\.yaml:2:5\n/,
  )
  const tried = await run('try', request.slice(-8), '--generation', '1')
  assert.deepEqual([tried.code, tried.err], [0, ''])
  assert.match(
    tried.out,
    /^\/github {2}202 {2}accepted {2}by pushed\n[\s\S]*╭ prompt\n│ A push to main\n╰\n$/,
  )
  assert.match((await run('try', request, '--generation', '9')).err, /Generation 9 is not kept/)
})
