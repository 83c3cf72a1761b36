/** A network between a store and its database for tests: connections through it can be cut, held up, and kept from being made. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type Network = Awaited<ReturnType<typeof createNetwork>>

/** COMMIT and its answer as bytes on the wire, which is not encrypted. */
const commits = { question: Buffer.from('Q\0\0\0\x0bCOMMIT\0'), answer: Buffer.from('C\0\0\0\x0bCOMMIT\0') }

/** The server's process and its secret, as a client learns at its start. */
const backendKey = Buffer.from('K\0\0\0\x0c')

type Happened = (pass: () => void) => void

export interface NetworkOptions {
  /** Clients learn of another process than the one that serves them, as a pooler does. Default: false. */
  readonly isPooler?: boolean
}

export async function createNetwork(url: string, { isPooler = false }: NetworkOptions = {}) {
  let to = new URL(url)
  const pairs = new Set<Socket>()
  let isSilent = false
  let kept: (() => void)[] = []
  let caught: { readonly what: keyof typeof commits; readonly happened: Happened } | undefined

  function carry(from: Socket, into: Socket, what: keyof typeof commits): void {
    pairs.add(from)
    from.on('error', () => {})
    from.once('close', () => {
      pairs.delete(from)
      into.destroy()
    })
    from.on('data', (chunk: Buffer) => {
      if (isPooler && what === 'answer') hideProcess(chunk)
      const pass = () => void into.write(chunk)
      if (caught?.what === what && chunk.includes(commits[what])) {
        const { happened } = caught
        caught = undefined
        happened(pass)
      } else if (isSilent) kept.push(pass)
      else pass()
    })
  }

  const server = createServer((client) => {
    const database = connect(Number(to.port), to.hostname)
    carry(client, database, 'question')
    carry(database, client, 'answer')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const through = new URL(url)
  through.port = String((server.address() as { port: number }).port)

  function cut(): void {
    for (const socket of pairs) socket.destroy()
  }

  return {
    /** The address of the database through this network. */
    url: through.href,
    /** Cuts all connections. */
    cut,
    /** Nothing arrives any more, in neither direction, and nothing is cut. Bytes sent meanwhile are kept. */
    silence() {
      isSilent = true
    },
    /** All connections that are silent stay so forever; new ones work. */
    forget() {
      isSilent = false
      kept = []
      for (const socket of pairs) socket.removeAllListeners('data').removeAllListeners('close')
    },
    /** Delivers the bytes that were kept, and everything after them. */
    restore() {
      isSilent = false
      for (const pass of kept.splice(0)) pass()
    },
    /** Connections that are made from now on reach the server of this address. */
    switchTo(next: string) {
      to = new URL(next)
    },
    /** Calls `happened` instead of passing on the next COMMIT, or the answer to it. `pass` passes it on. */
    catchCommit(what: keyof typeof commits, happened: Happened) {
      caught = { what, happened }
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

function hideProcess(chunk: Buffer): void {
  const at = chunk.indexOf(backendKey)
  if (at >= 0 && at + 9 <= chunk.length) chunk.writeInt32BE(chunk.readInt32BE(at + 5) + 1_000_000, at + 5)
}
