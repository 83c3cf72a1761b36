import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { callOne, createServing } from './fixture.ts'

test('each connection that a transform opens is reported to a call that watches them, and to no other', async (t) => {
  const server = createServer((_request, response) => response.end('yes'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { opened } = await createServing(t, {
    'calls.ts': `
      import { get } from 'node:http'
      import { connect } from 'node:net'
      const ways: any = {
        fetch: (port: number) => fetch('http://127.0.0.1:' + port + '/path?token=x').then((answer) => answer.text()),
        again: (port: number) => fetch('http://127.0.0.1:' + port).then((answer) => answer.text()),
        http: (port: number) => new Promise((done) => get({ host: '127.0.0.1', port }, (answer) => answer.resume().on('end', done))),
        net: (port: number) => new Promise((done) => { const socket = connect(port, '127.0.0.1', () => { socket.end(); done(1) }) }),
        name: () => fetch('http://nowhere.invalid/').catch(() => {}),
        nothing: () => 0,
      }
      export default async ({ payload: { how, port } }: any) => { await ways[how](port); return null }`,
  })
  const connectionsOf = async (how: string) => {
    const reports: string[] = []
    const onCall = (module: string, target: string) => void reports.push(`${module} ${target}`)
    await callOne(opened, 'calls.ts', { payload: { how, port }, onCall })
    return reports
  }
  for (const [how, ...targets] of [
    ['fetch', `http://127.0.0.1:${port}`],
    // Over a connection that is open.
    ['again', `http://127.0.0.1:${port}`],
    ['http', `http://127.0.0.1:${port}`],
    ['net', `127.0.0.1:${port}`],
    ['name', 'http://nowhere.invalid'],
    ['nothing'],
  ] as const)
    assert.deepEqual(
      await connectionsOf(how),
      targets.map((target) => `calls.ts ${target}`),
      how,
    )
  await callOne(opened, 'calls.ts', { payload: { how: 'net', port } })
})
