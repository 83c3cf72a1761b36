/** Attaches to a gateway as an editor does, by the protocol of Node.js's inspector. */

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { atEnd } from './at-end.ts'
import { until } from './installation.ts'

interface Message {
  readonly method?: string
  readonly params: {
    readonly sessionId: string
    readonly message: string
    readonly scriptId: string
    readonly url: string
    readonly sourceMapURL: string
    readonly callFrames: readonly { readonly location: { readonly scriptId: string } }[]
  }
}

/** @param address of the inspector. */
export async function attachDebugger(t: TestContext, address: string) {
  const socket = new WebSocket(address)
  atEnd(t, () => socket.close())
  let count = 0
  const send = (method: string, params: object) => {
    count += 1
    socket.send(JSON.stringify({ id: count, method, params }))
  }
  const sendTo = (sessionId: string, method: string) => {
    const message = JSON.stringify({ id: 1, method })
    send('NodeWorker.sendMessageToWorker', { sessionId, message })
  }
  /** The source maps of modules, by worker and id. */
  const maps = new Map<string, string>()
  let stop: { readonly worker: string; readonly map: string } | undefined
  socket.addEventListener('message', ({ data }) => {
    const { method, params }: Message = JSON.parse(String(data))
    if (method === 'NodeWorker.attachedToWorker') sendTo(params.sessionId, 'Debugger.enable')
    if (method !== 'NodeWorker.receivedMessageFromWorker') return
    const worker = params.sessionId
    const { method: event, params: facts }: Message = JSON.parse(params.message)
    if (event === 'Debugger.scriptParsed' && facts.sourceMapURL !== '') {
      const map = URL.parse(facts.sourceMapURL, facts.url)
      // Packages may have their maps inline.
      if (map?.protocol === 'file:') maps.set(`${worker} ${facts.scriptId}`, fileURLToPath(map))
    }
    if (event === 'Debugger.paused')
      stop = { worker, map: maps.get(`${worker} ${facts.callFrames[0]?.location.scriptId}`) ?? '' }
  })
  await once(socket, 'open')
  send('NodeWorker.enable', { waitForDebuggerOnStart: false })

  return {
    /** Resolves with the sources of the module in which a worker has stopped, absolute. */
    async sources(): Promise<readonly string[]> {
      const { map } = await until(() => stop, 'a stop in a worker')
      const { sources }: { sources: string[] } = JSON.parse(await readFile(map, 'utf8'))
      return sources.map((source) => path.resolve(path.dirname(map), source))
    },
    resume: () => sendTo(stop?.worker ?? '', 'Debugger.resume'),
    /** Node.js ends only after its debuggers have left. */
    leave: () => socket.close(),
  }
}
