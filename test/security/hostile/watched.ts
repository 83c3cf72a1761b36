/** Owns a watched gateway as a test uses it: asked over a socket, it tells what the requests cost its event loop. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { atEnd } from '../../at-end.ts'
import { createFolder } from '../../installation.ts'
import type { HostileCase } from './cases.ts'
import { mappingFile } from './mappings.ts'
import type { Report } from './watched-gateway.ts'

const token = 'hostile-hook-token-0123456789abcd'

export interface Answer {
  readonly status: number
  readonly text: string
}

export interface Watched {
  /** All at once; what they cost until the gateway is at rest again. */
  send(
    cases: readonly HostileCase[],
  ): Promise<{ readonly answers: readonly Answer[]; readonly report: Report }>
  /** What is left in memory. */
  collect(): Promise<Report>
}

export async function openWatched(t: TestContext, presets: readonly string[]): Promise<Watched> {
  const folder = await createFolder(t, {
    'reveille.yaml': JSON.stringify({
      gateway: { port: 0, log: { level: 'warn', format: 'json' } },
      hooks: { enabled: true, token, presets },
      channels: { terminal: {} },
      agents: { route: { channel: 'terminal', to: 'stdout' } },
    }),
    'mappings/hostile.json': mappingFile(),
  })
  const child = fork(
    fileURLToPath(new URL('watched-gateway.ts', import.meta.url)),
    [join(folder, 'reveille.yaml')],
    { execArgv: ['--expose-gc'], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000)
    })
  }
  // A connection that is kept may be closed by its idle other end in the moment of the next request.
  const agent = new Agent({ keepAlive: false })
  const exit = once(child, 'exit')
  const ended = exit.then((): never => {
    throw new Error(`The gateway ended:\n${output}`)
  })
  ended.catch(() => {})
  atEnd(t, async () => {
    agent.destroy()
    if (child.connected) child.send('close')
    await exit
  })

  async function told<Message>(asked?: string): Promise<Message> {
    const message = once(child, 'message')
    if (asked !== undefined) child.send(asked)
    const [first] = await Promise.race([message, ended])
    return first
  }

  const { address } = await told<{ address: string }>()
  return {
    async send(cases) {
      await told('watch')
      const answers = await Promise.race([
        Promise.all(cases.map((each) => post(`${address}/hooks/${each.endpoint}`, each, agent))),
        ended,
      ])
      return { answers, report: await told<Report>('answered') }
    },
    collect: () => told<Report>('collect'),
  }
}

function post(url: string, { name, headers, body }: HostileCase, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const content = body()
    const outgoing = request(url, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${token}`, 'content-length': content.length, ...headers },
    })
    outgoing.on('error', (cause) => reject(new Error(`${name} got no answer`, { cause })))
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
      incoming.on('error', reject)
    })
    outgoing.end(content)
  })
}
