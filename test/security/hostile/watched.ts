/** Starts a gateway whose main thread is watched. Tests send requests over a socket, and get what these cost the thread. */

import { Agent, request } from 'node:http'
import type { TestContext } from 'node:test'
import { atEnd } from '../../at-end.ts'
import { openChildGateway } from '../child/child-gateway.ts'
import type { Vitals } from '../child/serving-gateway.ts'
import type { HostileCase } from './cases.ts'
import { mappingFile } from './mappings.ts'

const token = 'hostile-hook-token-0123456789abcd'

export interface Answer {
  readonly status: number
  readonly text: string
}

export interface WatchedGateway {
  /** Sends all requests at once, and waits until the gateway is at rest again. */
  send(cases: readonly HostileCase[]): Promise<{ readonly answers: readonly Answer[]; readonly held: number }>
}

export async function openWatched(t: TestContext, presets: readonly string[]): Promise<WatchedGateway> {
  const { address, messageFrom, ended } = await openChildGateway(t, {
    // A megabyte of JSON may take fifty, six times at once; what piles up ends the process.
    flags: ['--max-old-space-size=640'],
    files: {
      'reveille.yaml': JSON.stringify({
        gateway: { port: 0, log: { level: 'warn', format: 'json' } },
        hooks: { enabled: true, token, presets },
        channels: { terminal: {} },
        agents: { route: { channel: 'terminal', to: 'stdout' } },
      }),
      'mappings/hostile.json': mappingFile(),
    },
  })
  // The gateway may close an idle connection just when the next request begins.
  const agent = new Agent({ keepAlive: false })
  atEnd(t, () => agent.destroy())
  return {
    async send(cases) {
      const answers = await Promise.race([
        Promise.all(cases.map((each) => post(`${address}/hooks/${each.endpoint}`, each, agent))),
        ended,
      ])
      return { answers, held: (await messageFrom<Vitals>('report')).heldMs }
    },
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
