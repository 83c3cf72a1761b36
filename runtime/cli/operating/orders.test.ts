/** Tests the commands that show and change runs, on a running gateway. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gatewayToken, hookToken, install, rehearsalPlugin, until } from '../../../test/installation.ts'
import { goFile } from '../../../test/rehearsal-plugin/runners.ts'
import type { Page, RunRecord } from '../../store/port.ts'
import { createCommandLine, fakeGateway, testTranscript } from '../io-fixture.ts'

const configuration = (runs: number) => `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}" } }
agents:
  budget: { runs: ${runs} }
  defaults: { runner: patient }
  runners: { patient: { kind: patient, folder: "{folder}" } }
`

/** A gateway on a port, and a command line that finds it. */
async function open(t: TestContext) {
  const installed = await install(t, { 'reveille.yaml': configuration(2) })
  const { gateway, post, read } = installed
  const env = { REVEILLE_URL: await gateway.listen(), REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const { run } = await createCommandLine(t, {}, { fetch, env })
  return {
    ...installed,
    run,
    async start(sessionKey: string): Promise<string> {
      const body = { message: `for ${sessionKey}`, sessionKey, deliver: false, wakeMode: 'next-heartbeat' }
      return String((await post('/hooks/agent', body)).body['runId'])
    },
    inState: (id: string, state: string) =>
      until(async () => {
        const found = await read<RunRecord>(`/api/runs/${id}`)
        return found.state === state || undefined
      }, `a run that is ${state}`),
  }
}

test('runs are cancelled, shown and resumed by the ends of their ids', async (t) => {
  const { run, start, inState, ended, write, gateway, read } = await open(t)
  const [one, two] = [await start('hook:one'), await start('hook:two')]
  for (const id of [one, two]) await inState(id, 'running')
  const running = await run('runs', one.slice(-6))
  assert.match(running.out, /^state: running$/m)
  assert.match(running.out, /^attempts:\n {2}- number: 1\n[\s\S]*^progress:\n {2}text:/m)

  // Two of two runs of the day are under way: the others are parked.
  const parked = [await start('hook:three'), await start('hook:four'), await start('hook:five')] as const
  for (const id of parked) await inState(id, 'parked')
  const shown = await run('runs', parked[0])
  assert.match(shown.out, /^state: parked$/m)
  const end = parked[0].slice(-6)
  assert.match(shown.out, new RegExp(`^next: reveille resume ${end} \\| reveille cancel ${end}$`, 'm'))
  assert.match(shown.out, /^error:\n {2}code: BUDGET$/m)
  const status = await run('status')
  assert.match(status.out, /^runs +queued 0, running 2, parked 3$/m)
  assert.equal(JSON.parse((await run('status', '--json')).out).runs.parked, 3)
  const list = await run('runs', '--state', 'parked')
  assert.equal(list.out.match(/ BUDGET: /g)?.length, 3)

  const cancelled = await run('cancel', one.slice(-6), parked[2])
  assert.deepEqual(cancelled, {
    code: 0,
    out: `${one.slice(-6)}: being cancelled; its turn is stopped\n${parked[2].slice(-6)}: cancelled\n`,
    err: '',
  })
  await ended(one)
  const again = await run('cancel', one)
  assert.deepEqual([again.code, again.out], [1, ''])
  assert.match(again.err, new RegExp(`^${one.slice(-6)}: The run cannot be cancelled: .*cancelled\\.\n$`))
  const asJson = await run('cancel', one, '--json')
  const [item] = JSON.parse(asJson.out).items
  assert.deepEqual([asJson.code, item.runId, item.ok, item.code], [1, one, false, 'WRONG_STATE'])
  assert.match((await run('runs', one)).out, /^attempts:\n {2}- number: 1\n[\s\S]*outcome: cancelled$/m)

  await write('reveille.yaml', configuration(100))
  await gateway.reload()
  await write(goFile, '*\n')
  const ofLoops = await run('resume', '--all', '--code', 'LOOP')
  assert.deepEqual(ofLoops, { code: 0, out: '0 runs queued again.\n', err: '' })
  const resumed = await run('resume', '--all', '--code', 'BUDGET')
  assert.deepEqual(resumed, { code: 0, out: '2 runs queued again.\n', err: '' })
  for (const id of parked.slice(0, 2)) assert.equal((await ended(id)).state, 'succeeded')
  assert.deepEqual(await run('resume', '--all'), { code: 0, out: '0 runs queued again.\n', err: '' })
  assert.equal((await run('resume', parked[0])).code, 1)
  assert.equal((await read<Page<RunRecord>>('/api/runs?state=parked')).items.length, 0)

  const sessions = await run('sessions')
  assert.match(sessions.out, /^LAST +TURNS +KEY\n/)
  assert.match(sessions.out, / 1 turn +hook:four$/m)
  assert.equal(JSON.parse((await run('sessions', '--limit', '1', '--json')).out).items.length, 1)
  assert.match(
    (await run('sessions', '--limit', '1')).err,
    /^More: reveille list sessions --limit 1 --cursor /,
  )
  const session = await run('sessions', 'hook:four')
  const turn = parked[1].slice(-6)
  assert.match(
    session.out,
    new RegExp(`  user  run ${turn}\n[\\s\\S]*for hook:four[\\s\\S]*  assistant  run ${turn}\n  done\n$`),
  )
  assert.equal(JSON.parse((await run('sessions', 'hook:four', '--json')).out).messages.length, 2)
  assert.deepEqual(await run('sessions', 'hook:nobody'), {
    code: 1,
    out: '',
    err: 'Nothing is called hook:nobody: give an id whole, or at least its last 4 characters.\n',
  })
})

const nothing = fakeGateway(({ route }) => (route.startsWith('GET /api/find') ? { items: [] } : undefined))

testTranscript(
  {},
  `
# wrong ids, missing ids and ids beside filters are refused, and nothing is changed
2 $ cancel
! …missing required argument 'run'…
1 $ cancel cafe12
! Nothing is called cafe12: …
2 $ resume cafe12 --code BUDGET
! --code goes with --all.
2 $ resume
! Name the runs, or all that are parked: --all.
2 $ resume cafe12 --all
! Name the runs…
2 $ retry
! Name the runs, or choose them…
2 $ retry cafe12 --since 8h
! An id names one run…
2 $ retry --since yesterday
! --since takes a span…
2 $ retry --failed --state timed-out
! --failed is the same as --state failed; give one of the two.
2 $ retry --parked
! error: unknown option '--parked'
2 $ sessions hook:x --limit 3
! …--limit is for lists.
`,
  nothing.io,
)

test('runs that failed are performed again from their stored prompts, each once, by one command', async (t) => {
  const program = `test -f {folder}/repaired && tail -n 2 | head -n 1 || { echo broken >&2; exit 3; }`
  const { gateway, post, ended, write, read } = await install(t, {
    'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
agents:
  defaults: { runner: shell }
  runners: { shell: { kind: command, command: /bin/sh, args: [-c, "${program}"], input: stdin, cwd: "{folder}" } }
`,
  })
  const env = { REVEILLE_URL: await gateway.listen(), REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const { run } = await createCommandLine(t, {}, { fetch, env })
  const ids: string[] = []
  for (const message of ['one', 'two', 'three']) {
    const body = { message, sessionKey: 'hook:repo', deliver: false, wakeMode: 'next-heartbeat' }
    ids.push(String((await post('/hooks/agent', body)).body['runId']))
  }
  for (const id of ids) {
    const { state, stage, deliveredAt } = await ended(id)
    assert.deepEqual([state, stage, deliveredAt], ['failed', 'summarised', undefined])
  }
  const [first = ''] = ids
  assert.match((await run('runs', first)).out, /^next: reveille retry \w+$/m)
  assert.deepEqual(await run('retry', '--state', 'failed', '--since', '8h', '--dry-run'), {
    code: 0,
    out: '3 runs would be retried.\n',
    err: '',
  })
  assert.equal((await run('retry', '--failed', '--dry-run')).out, '3 runs would be retried.\n')
  assert.equal((await run('retry', '--code', 'no-such-code')).out, '0 runs queued again.\n')
  await write('repaired', '')
  // Two at the same moment, and one after them: each run is performed once.
  const orders = await Promise.all([1, 2].map(() => run('retry', '--since', '8h', '--json')))
  const done = orders.map(({ out }) => JSON.parse(out).done)
  assert.equal(done[0] + done[1], 3)
  const runs = await Promise.all(ids.map((id) => ended(id)))
  assert.deepEqual(
    runs.map(({ state, reply }) => [state, reply?.trim()]),
    ['one', 'two', 'three'].map((message) => ['succeeded', message]),
  )
  const times = runs.map(({ startedAt = 0 }) => startedAt)
  assert.deepEqual(times, times.toSorted(), 'a session keeps its order')
  assert.equal((await run('retry', '--since', '8h')).out, '0 runs queued again.\n')
  const refused = await run('retry', first)
  assert.equal(refused.code, 1)
  assert.match(
    refused.err,
    /The run cannot be retried: only a failed or timed-out run can be retried: it is succeeded\./,
  )
  assert.equal((await read<Page<RunRecord>>('/api/runs?state=failed')).items.length, 0)
})
