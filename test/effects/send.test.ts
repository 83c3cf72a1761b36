/** Tests the commands that send texts, replay parked ones and set the route, through a gateway on a port. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { createGateway } from '../../runtime/index.ts'
import type { DeliveryRecord, Page, RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { createFolder, gatewayToken, hookToken, install, rehearsalPlugin, until } from '../installation.ts'

const board = 'board: { folder: "{folder}" }'
const routed = '{ route: { channel: board, to: team } }'

function configured(channels: string, agents: string): string {
  return `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { ${channels} }
agents: ${agents}
`
}

/** Creates a command line for the gateway at this address. */
function commandLine(
  t: TestContext,
  address: string,
  overrides: Parameters<typeof createCommandLine>[2] = {},
) {
  const env = { REVEILLE_URL: address, REVEILLE_GATEWAY_TOKEN: gatewayToken }
  return createCommandLine(t, {}, { fetch, env, ...overrides })
}

async function open(
  t: TestContext,
  configuration = configured(`terminal: {}, ${board}`, routed),
  overrides: Parameters<typeof createCommandLine>[2] = {},
) {
  const installed = await install(t, { 'reveille.yaml': configuration })
  return {
    ...installed,
    ...(await commandLine(t, await installed.gateway.listen(), overrides)),
    write: installed.write,
  }
}

test('a text is sent, and the command ends when it has arrived or cannot', async (t) => {
  const texts = [Buffer.from('one\n\n  *zwei* — drei\r\n'), Buffer.from(' \n'), Buffer.from([0xff])]
  const input = async () => texts.shift() ?? Buffer.of()
  const { run, board: shown, read } = await open(t, undefined, { input })
  const arrived = await run('send', '--channel', 'board', '--to', 'ada', 'Good **morning**')
  assert.match(arrived.out, /^[0-9a-f]{6}: delivered to board:ada\n$/)
  assert.deepEqual([arrived.code, arrived.err], [0, ''])
  assert.match((await run('send', 'To whom it concerns')).out, /: delivered to board:team\n$/)
  assert.deepEqual(await shown(), [
    { to: 'ada', text: 'Good **morning**' },
    { to: 'team', text: 'To whom it concerns' },
  ])

  const parked = await run('send', '--channel', 'board', '--to', 'gone', 'Hello?')
  assert.deepEqual([parked.code, parked.out], [1, ''])
  assert.match(
    parked.err,
    /^[0-9a-f]{6}: parked: gone: Gone\.\n`reveille replay [0-9a-f]{6}` sends it again\n$/,
  )
  const asJson = await run('send', '--channel', 'board', '--to', 'gone', 'Hello?', '--json')
  const delivery: DeliveryRecord = JSON.parse(asJson.out)
  assert.deepEqual([asJson.code, delivery.state, delivery.code], [1, 'parked', 'gone'])

  const left = await run('send', '--channel', 'board', '--to', 'bob', 'Later', '--no-wait', '--json')
  const { deliveryId, ...rest } = JSON.parse(left.out)
  assert.deepEqual([left.code, rest], [0, { ok: true, channel: 'board', to: 'bob' }])
  assert.equal((await read<DeliveryRecord>(`/api/deliveries/${deliveryId}`)).text, 'Later')

  const list = await run('deliveries', '--channel', 'board', '--state', 'parked')
  assert.match(list.out, /^TIME +ID +RUN +CHANNEL +TO +STATE +TRIES +REASON\n/)
  assert.equal(list.out.match(/ board +gone +parked +1 +gone: Gone\.$/gm)?.length, 2)
  assert.equal((await run('deliveries', '--channel', 'terminal')).out, 'No deliveries.\n')
  const one = await run('deliveries', delivery.id)
  assert.match(
    one.out,
    /^next: reveille replay [0-9a-f]{6}\n[\s\S]*^state: parked\nchannel: board\nto: gone\n/m,
  )
  await until(async () => {
    const { state } = await read<DeliveryRecord>(`/api/deliveries/${deliveryId}`)
    return state === 'delivered' || undefined
  }, 'the message to bob is delivered')
  const status = await run('status')
  assert.match(status.out, /^channels +terminal, state open, .*\n +board, state open, pending 0, parked 2$/m)
  assert.match(status.out, /^next .*`reveille replay --parked --channel board`$/m)

  await t.test('a text comes from standard input as it is, but for the line feed at its end', async () => {
    assert.equal((await run('send', '-')).code, 0)
    assert.deepEqual(await run('send', '-'), {
      code: 2,
      out: '',
      err: 'The text is blank: there is nothing to send.\n',
    })
    assert.deepEqual(await run('send', '-'), {
      code: 2,
      out: '',
      err: 'The text on standard input is not valid UTF-8.\n',
    })
    assert.deepEqual((await shown()).at(-1), { to: 'team', text: 'one\n\n  *zwei* — drei' })
  })

  await t.test('a refusal of the gateway names the field and the possible values', async () => {
    const count = (await read<Page<DeliveryRecord>>('/api/deliveries')).items.length
    assert.deepEqual(await run('send', '--channel', 'slack', 'Hello'), {
      code: 1,
      out: '',
      err: 'The channel exists but is not configured.\n  channel must be a channel that is configured (configured: board, terminal)\n',
    })
    const bad = await run('send', '--channel', 'terminal', '--to', '#general', 'Hello')
    assert.match(bad.err, /^.*stdout.*\n {2}to must be a recipient of the channel terminal\n$/)
    const wrong = [
      ['send'],
      ['send', 'a', 'b'],
      ['send', 'a', '--timeout', '0'],
      ['replay'],
      ['replay', 'cafe12', '--parked'],
      ['replay', 'cafe12', '--channel', 'board'],
      ['route', 'set'],
    ]
    for (const args of wrong) assert.equal((await run(...args)).code, 2, args.join(' '))
    assert.equal((await read<Page<DeliveryRecord>>('/api/deliveries')).items.length, count)
  })
})

test('a parked delivery is replayed once the configuration is fixed, alone or with all of its channel', async (t) => {
  const { run, post, read, write, gateway, ended, board: shown } = await open(t, configured(board, '{}'))
  async function parked(message: string): Promise<RunRecord> {
    const { body } = await post('/hooks/agent', { message, wakeMode: 'next-heartbeat' })
    return until(async () => {
      const found = await read<RunRecord>(`/api/runs/${body['runId']}`)
      return found.stage === 'summarised' ? found : undefined
    }, 'a parked delivery')
  }
  const runs = [await parked('one'), await parked('two'), await parked('three')] as const
  const [first = '', , third = ''] = runs.map(({ deliveryIds }) => deliveryIds[0])
  const status = await run('status')
  assert.match(status.out, / +whatsapp, pending 0, parked 3, state unconfigured$/m)
  const early = await run('replay', first)
  assert.deepEqual([early.code, early.out], [1, ''])
  assert.match(early.err, /: The delivery cannot be replayed: channel whatsapp is not configured: /)

  await write('reveille.yaml', configured(board, routed))
  assert.ok((await gateway.reload()).ok)
  await until(async () => (await run('route')).out === 'board:team\n' || undefined, 'the new route')
  assert.deepEqual(await run('replay', third.slice(-6)), {
    code: 0,
    out: `${third.slice(-6)}: on its way again to board:team\n`,
    err: '',
  })
  assert.equal((await ended(runs[2].id)).stage, 'delivered')
  assert.deepEqual(await run('replay', '--parked', '--channel', 'whatsapp'), {
    code: 0,
    out: '2 deliveries on the way again.\n',
    err: '',
  })
  for (const { id } of runs) await ended(id)
  assert.deepEqual(
    (await shown()).map(({ text }) => text),
    [runs[2], runs[0], runs[1]].map(({ reply }) => reply),
  )
  assert.equal((await run('replay', '--parked')).out, '0 deliveries on the way again.\n')

  const again = await run('replay', first, '--json')
  const [item] = JSON.parse(again.out).items
  assert.deepEqual([again.code, item.deliveryId, item.code], [1, first, 'WRONG_STATE'])
  const { requestId = '' } = runs[0]
  for (const id of [requestId, requestId.slice(-6)]) {
    const { code, err } = await run('replay', id)
    assert.equal(code, 1)
    assert.match(err, new RegExp(`^${requestId.slice(-6)}: Its body is not kept: \`history\\.bodies: all\` `))
  }
  assert.deepEqual(await run('replay', 'cafe12'), {
    code: 1,
    out: '',
    err: 'Nothing is called cafe12: give an id whole, or at least its last 4 characters.\n',
  })
  const shownOne = await run('deliveries', first)
  assert.match(shownOne.out, /^receipts:\n {2}- [\s\S]*[0-9a-f-]{36}:1\b/m)
})

test('a route that is set survives the gateway, and wins over the configuration', async (t) => {
  const files = {
    'reveille.yaml': configured(`terminal: {}, ${board}`, '{ route: { channel: terminal, to: stderr } }'),
  }
  const folder = await createFolder(t, files)
  async function start() {
    const options = { configFile: join(folder, 'reveille.yaml'), env: {}, watch: false }
    const gateway = await createGateway({ ...options, logStream: { write() {} } })
    atEnd(t, () => gateway.close({ graceMs: 0 }))
    return { gateway, ...(await commandLine(t, await gateway.listen())) }
  }

  const first = await start()
  assert.equal((await first.run('route')).out, 'terminal:stderr\n')
  assert.deepEqual(await first.run('route', 'set', 'board', 'everyone'), {
    code: 0,
    out: 'Replies to `last` go to board:everyone from now on.\n',
    err: '',
  })
  await first.gateway.close({ graceMs: 0 })

  const { run } = await start()
  assert.deepEqual(JSON.parse((await run('route', '--json')).out), {
    route: { channel: 'board', to: 'everyone' },
  })
  assert.match((await run('send', 'Who is there?')).out, /: delivered to board:everyone\n$/)
  const refused = await run('route', 'set', 'terminal', 'nowhere', '--json')
  assert.deepEqual([refused.code, refused.out], [1, ''])
})
