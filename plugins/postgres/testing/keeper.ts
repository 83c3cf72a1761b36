/**
 * The process that holds the PostgreSQL server of a test run. Each test process that needs databases stays connected to it. It ends, and
 * removes all data, when no process is connected and no run is left: the kernel closes the connections of those that die.
 */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type EmbeddedServer, startEmbeddedServer } from './embedded-server.ts'
import { type KeeperAnswer, keeperAddress } from './index.ts'

/** Milliseconds between checks for the end of a run, while no process is connected. */
const lookMs = 200
/** Milliseconds that the first process has to connect. */
const firstMs = 10_000

const clients = new Set<Socket>()
const runs = new Set<number>()
let isWanted = false
let server: Promise<{ answer: KeeperAnswer; running?: EmbeddedServer; folder?: string }> | undefined

const listener = createServer((socket) => {
  clients.add(socket)
  isWanted = true
  socket.on('error', () => {})
  socket.on('close', () => clients.delete(socket))
  createInterface(socket).once('line', async (line) => {
    const { run } = JSON.parse(line) as { run?: number }
    if (run !== undefined) runs.add(run)
    server ??= open()
    socket.write(`${JSON.stringify((await server).answer)}\n`)
  })
})

await listen()
process.send?.('listening')
setInterval(() => {
  for (const run of runs) if (!isAlive(run)) runs.delete(run)
  if (clients.size === 0 && runs.size === 0 && isWanted) void end()
}, lookMs)
setTimeout(() => isWanted || void end(), firstMs)

/** A server that cannot start is not tried again for the next process. */
async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-postgres-'))
  try {
    const running = await startEmbeddedServer({ folder })
    return { answer: { url: running.url, run: randomBytes(4).toString('hex') }, running, folder }
  } catch (error) {
    return { answer: { problem: (error as Error).message }, folder }
  }
}

/** Another process may have been faster. A name that a dead process left is taken over. */
async function listen(): Promise<void> {
  try {
    listener.listen(keeperAddress())
    await once(listener, 'listening')
  } catch {
    const other = connect(keeperAddress())
    const isThere = await once(other, 'connect').then(
      () => true,
      () => false,
    )
    other.destroy()
    if (isThere) process.exit()
    await rm(keeperAddress(), { force: true })
    listener.listen(keeperAddress())
    await once(listener, 'listening')
  }
}

let ending: Promise<void> | undefined

function end(): Promise<void> {
  ending ??= (async () => {
    // From here on nobody finds this process, and the next test starts another one.
    listener.close()
    const opened = await server
    await opened?.running?.stop('immediate')
    if (opened?.folder !== undefined) await rm(opened.folder, { recursive: true, force: true, maxRetries: 3 })
    process.exit()
  })()
  return ending
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
