/** A load balancer for tests: hands each connection to the next address that takes one, without looking into it. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export async function createBalancer(ports: readonly number[]) {
  const open = new Set<Socket>()
  let last = 0

  const server = createServer((client) => {
    keep(client)
    void reach().then((node) => {
      if (node === undefined) return client.destroy()
      keep(node)
      client.pipe(node).pipe(client)
      client.once('close', () => node.destroy())
      node.once('close', () => client.destroy())
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function keep(socket: Socket): void {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
  }

  async function reach(): Promise<Socket | undefined> {
    for (const _port of ports) {
      last += 1
      const socket = connect(ports[last % ports.length] ?? 0, '127.0.0.1')
      try {
        await once(socket, 'connect')
        return socket
      } catch {
        socket.destroy()
      }
    }
    return undefined
  }

  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    async close() {
      server.close()
      for (const socket of open) socket.destroy()
      if (server.listening) await once(server, 'close')
    },
  }
}
