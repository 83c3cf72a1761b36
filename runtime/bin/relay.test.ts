import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'

const relayUrl = new URL('./relay.js', import.meta.url).href

const parentUrl = new URL('./parent.js', import.meta.url).href

/** A process that relays to a child running `script`; gives its lines as they come. */
function startRelay(script: string, options = {}) {
  const parent = `
    import { endAs, relay } from ${JSON.stringify(relayUrl)}
    import { launchedEnvironment } from ${JSON.stringify(parentUrl)}
    const env = launchedEnvironment()
    endAs(await relay(process.execPath, ['-e', ${JSON.stringify(script)}], { env, ...${JSON.stringify(options)} }))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, next: async () => (await lines.next()).value, ended: once(child, 'close') }
}

test('the exit code of the child becomes the exit code', async () => {
  const { ended } = startRelay('process.exit(7)')
  assert.deepEqual(await ended, [7, null])
})

test('a child that a signal ended makes this process end by the same signal', async () => {
  const { ended } = startRelay('process.kill(process.pid, "SIGKILL")')
  assert.deepEqual(await ended, [null, 'SIGKILL'])
})

test('a signal that arrives twice reaches the child once, whose drain decides the exit code', async () => {
  const { child, next, ended } = startRelay(`
    let seen = 0
    process.on('SIGINT', () => console.log('interrupted', ++seen))
    process.on('SIGTERM', () => { console.log('drained'); process.exit(0) })
    setInterval(() => {}, 1000)
    console.log('ready')`)
  assert.equal(await next(), 'ready')
  child.kill('SIGINT')
  assert.equal(await next(), 'interrupted 1')
  child.kill('SIGINT')
  child.kill('SIGTERM')
  assert.equal(await next(), 'drained', 'the second SIGINT was not passed on')
  assert.deepEqual(await ended, [0, null])
})

test('a signal that the terminal sends to the child itself is not passed on', async () => {
  const script = `
    process.on('SIGINT', () => console.log('interrupted'))
    process.on('SIGTERM', () => { console.log('drained'); process.exit(0) })
    setInterval(() => {}, 1000)
    console.log('ready')`
  const { child, next, ended } = startRelay(script, { notForwarded: ['SIGINT'] })
  assert.equal(await next(), 'ready')
  child.kill('SIGINT')
  child.kill('SIGTERM')
  assert.equal(await next(), 'drained')
  assert.deepEqual(await ended, [0, null])
})

test('a child whose launcher is killed ends as by SIGTERM, and its own children do not inherit the launcher', {
  skip: process.platform === 'win32' && 'Windows keeps naming a parent that has ended',
}, async () => {
  const { child, next, ended } = startRelay(`
    import(${JSON.stringify(parentUrl)}).then(({ endWithLauncher }) => {
      endWithLauncher()
      process.on('SIGTERM', () => { console.log('drained'); process.exit(0) })
      setInterval(() => {}, 1000)
      console.log('ready', process.env.REVEILLE_LAUNCHER)
    })`)
  assert.equal(await next(), 'ready undefined')
  child.kill('SIGKILL')
  assert.equal(await next(), 'drained')
  await ended
})
