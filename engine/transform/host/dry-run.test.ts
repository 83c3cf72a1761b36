import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer, type Server } from 'node:net'
import { test } from 'node:test'
import type { OpenTransforms, Stop } from '../port.ts'
import { answerOf, callOne, createServing, failureOf, shownPlace } from './fixture.ts'

/** A server that counts who reaches it. */
async function createTrap(t: { after(end: () => void): void }) {
  let reached = 0
  const server: Server = createServer((socket) => {
    reached++
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as { port: number }).port, reached: () => reached }
}

/** Each way out: its name, the body of an async function that is given `port`, and what it would reach. */
const ways = `
fetch: await fetch('http://127.0.0.1:' + port + '/path?token=x') ⇒ http://127.0.0.1:PORT
fetch of a Request: await fetch(new Request('http://127.0.0.1:' + port + '/a?b')) ⇒ http://127.0.0.1:PORT
WebSocket: new WebSocket('ws://127.0.0.1:' + port) ⇒ ws://127.0.0.1:PORT
a named import of http: get({ host: '127.0.0.1', port }) ⇒ http://127.0.0.1:PORT
a dynamic import of http: const { request } = await import('node:http'); request('http://127.0.0.1:' + port + '/a').end() ⇒ http://127.0.0.1:PORT
a name that is made up late: const m: any = await import('node:' + ['ht', 'tps'].join('')); m.get(new URL('https://127.0.0.1:' + port)) ⇒ https://127.0.0.1:PORT
http2: connectHttp2('http://127.0.0.1:' + port) ⇒ 127.0.0.1:PORT
net.connect: connect(port, '127.0.0.1') ⇒ 127.0.0.1:PORT
a socket of net: new Socket().connect({ host: '127.0.0.1', port }) ⇒ 127.0.0.1:PORT
a path of net: connect('/run/docker.sock') ⇒ the socket /run/docker.sock
tls: connectTls({ host: '127.0.0.1', port }) ⇒ 127.0.0.1:PORT
a datagram: createSocket('udp4').send('x', port, '127.0.0.1') ⇒ UDP 127.0.0.1:PORT
a look-up: await new Promise((done) => lookup('mail.example', done)) ⇒ the name mail.example
a promised look-up: await dnsPromises.resolve('mail.example') ⇒ the name mail.example
a resolver: new Resolver().resolve4('mail.example', () => {}) ⇒ the name mail.example
a server: createServer().listen(0) ⇒ a port to listen on
require: createRequire(import.meta.url)('node:net').connect(port, '127.0.0.1') ⇒ 127.0.0.1:PORT
process.getBuiltinModule: process.getBuiltinModule('net').connect(port, '127.0.0.1') ⇒ 127.0.0.1:PORT
a program: execFileSync('/bin/echo', ['secret']) ⇒ the program echo
a command line: await promisify(exec)('curl https://x.example/?token=secret') ⇒ the program curl
another worker: new Worker('0', { eval: true }) ⇒ another thread
another worker by require: const { Worker: Other } = createRequire(import.meta.url)('worker_threads'); new Other('0', { eval: true }) ⇒ another thread
the main thread: const { Session } = await import('node:inspector'); new Session().connectToMainThread() ⇒ another thread
a program by default: spawnSync('/bin/true') ⇒ the program true`

const header = `
  import { exec, execFileSync, spawnSync } from 'node:child_process'
  import { createSocket } from 'node:dgram'
  import { lookup, Resolver, promises as dnsPromises } from 'node:dns'
  import { get } from 'node:http'
  import { connect as connectHttp2 } from 'node:http2'
  import { createRequire } from 'node:module'
  import { connect, createServer, Socket } from 'node:net'
  import { connect as connectTls } from 'node:tls'
  import { promisify } from 'node:util'
  import { Worker } from 'node:worker_threads'
  const ways: any = {`

/** Calls a module in a dry run that notes what it would reach. */
function dryCall(opened: OpenTransforms, module: string, payload?: unknown) {
  const stops: Stop[] = []
  const onStop = (stop: Stop) => void stops.push(stop)
  return { answer: callOne(opened, module, { payload, dryRun: 'refuse', onStop }), stops }
}

test('in a dry run nothing leaves the process, and each attempt reports its destination', async (t) => {
  const trap = await createTrap(t)
  const rows = [...ways.matchAll(/^(.+?): (.+) ⇒ (.+)$/gm)]
  const body = rows.map(([, name, code]) => `'${name}': async (port: number) => { ${code} },`)
  const text = `${header}\n${body.join('\n')}\n}
    export default async ({ payload: { how, port }, dryRun }: any) => { await ways[how](port); return { message: 'on, ' + dryRun } }`
  const { opened, events } = await createServing(t, { 'ways.ts': text })
  for (const [, how = '', , target = ''] of rows) {
    const { answer, stops } = dryCall(opened, 'ways.ts', { how, port: trap.port })
    const { message, code } = await failureOf(answer)
    const says =
      /^ways\.ts was stopped: a dry run does not reach .+; --call-out, or callOut: true, allows it$/
    assert.match(message, says, how)
    assert.equal(code, 'TRANSFORM_FAILED', how)
    assert.deepEqual(
      stops.map(({ module, target }) => [module, target]),
      [['ways.ts', target.replace('PORT', `${trap.port}`)]],
      how,
    )
    // The line of the module, of which each way has one.
    const line = text.split('\n').findIndex((each) => each.startsWith(`'${how}'`)) + 1
    assert.equal(stops[0]?.place?.line, line, `${how}: ${shownPlace(stops[0] ?? {})}`)
  }
  assert.equal(trap.reached(), 0)
  assert.ok(!events.some(({ type }) => type === 'worker-lost'))
})

test('a stop is reported where the module goes on, and the answer counts', async (t) => {
  const { opened } = await createServing(t, {
    'calm.ts': `export default async () => {
      const name = await fetch('https://names.example/42').then((found) => found.text(), () => 'unknown')
      return { message: name }
    }`,
  })
  const { answer, stops } = dryCall(opened, 'calm.ts')
  assert.deepEqual(await answer, answerOf('unknown'))
  assert.equal(stops[0]?.target, 'https://names.example')
  assert.match(shownPlace(stops[0] ?? {}) ?? '', /^calm\.ts:2:/)
})

test('a forbidden access at the top level of a module stops the load, or each call', async (t) => {
  const { opened } = await createServing(t, {
    'eager.ts': `const found = (globalThis as any).loaded ? 0 : await fetch('http://127.0.0.1:1/').catch((error) => error.code)
      export default () => ({ message: found })`,
    'broken.ts': `import { connect } from 'node:net'
      const socket = connect({ port: 1, host: '127.0.0.1' }).on('error', () => {})
      export default () => ({ message: 'x' })`,
  })
  const eager = dryCall(opened, 'eager.ts')
  assert.deepEqual(await eager.answer, answerOf('DRY_RUN'))
  const listed = eager.stops.map(({ target }) => target)
  assert.deepEqual(listed, ['http://127.0.0.1:1'])
  const broken = dryCall(opened, 'broken.ts')
  const { message } = await failureOf(broken.answer)
  assert.match(message, /^broken\.ts was stopped: a dry run does not reach 127\.0\.0\.1:1;/)
  const reported = broken.stops.map(({ target }) => target)
  assert.deepEqual(reported, ['127.0.0.1:1'])
})

const undici = createRequire(import.meta.url).resolve('undici')

test('a client of npm is stopped, although it wraps the error', async (t) => {
  const { opened } = await createServing(t, {
    'client.ts': `import { request } from ${JSON.stringify(undici)}
      export default async ({ payload }: any) => { await request('http://127.0.0.1:' + payload.port); return null }`,
  })
  const trap = await createTrap(t)
  const { answer, stops } = dryCall(opened, 'client.ts', { port: trap.port })
  const { message } = await failureOf(answer)
  assert.match(message, /was stopped: a dry run does not reach 127\.0\.0\.1:\d+;/)
  assert.deepEqual([stops[0]?.target, stops.length, trap.reached()], [`127.0.0.1:${trap.port}`, 1, 0])
})

test('code that does not leave the process works in a dry run', async (t) => {
  const { opened } = await createServing(t, {
    'inside.ts': `
      import { createHash } from 'node:crypto'
      import { readFile } from 'node:fs/promises'
      import { STATUS_CODES } from 'node:http'
      import { PassThrough } from 'node:stream'
      import { setTimeout as pause } from 'node:timers/promises'
      import { gzipSync } from 'node:zlib'
      export default async () => {
        await pause(1)
        const own = await readFile(new URL(import.meta.url), 'utf8')
        const sum = createHash('sha256').update(gzipSync(own)).digest('hex').length
        return { message: [STATUS_CODES[404], sum, new PassThrough().writable, new URL('https://a.example').host].join(' ') }
      }`,
  })
  assert.deepEqual(await dryCall(opened, 'inside.ts').answer, answerOf('Not Found 64 true a.example'))
})
