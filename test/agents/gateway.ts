/** Runs a gateway in its own process, on its own folder. A test may kill it at any moment. */

import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { bundledCommand } from '../bundle.ts'
import { createGatewayProcess, freePort, type GatewayProcess } from '../durability/gateway-process.ts'
import { createFolder, gatewayToken, hookToken, until } from '../installation.ts'

export interface KillableGateway extends GatewayProcess {
  readonly folder: string
  /** Posts to a hook and returns the answer. */
  post(path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }>
  /** Returns the answer of the admin API. */
  read<Answer>(path: string): Promise<Answer>
  /** Resolves with the run once it has passed its last stage. */
  ended(id: unknown): Promise<RunRecord>
}

/** The gateway is not started yet. `more` is the configuration besides `gateway` and `hooks`; `{folder}` stands for the folder. */
export async function createKillableGateway(
  t: TestContext,
  { more, hooks = '' }: { readonly more: string; readonly hooks?: string },
): Promise<KillableGateway> {
  const port = await freePort()
  const settings = `port: ${port}, auth: { token: ${gatewayToken} }, log: { level: warn, format: json }`
  const hook = `hooks:\n  enabled: true\n  token: ${hookToken}\n${hooks}`
  const folder = await createFolder(t, { 'reveille.yaml': `gateway: { ${settings} }\n${hook}\n${more}\n` })
  const command = [await bundledCommand(), 'start', '--config', join(folder, 'reveille.yaml')]
  const gateway = await createGatewayProcess({ command, port })
  atEnd(t, () => gateway.kill('SIGKILL').catch(() => undefined))

  async function read<Answer>(path: string): Promise<Answer> {
    const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gatewayToken}` } })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Answer
  }

  return {
    ...gateway,
    folder,
    read,
    async post(path, body) {
      const answer = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${hookToken}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    },
    ended: (id) =>
      until(async () => {
        const run = await read<RunRecord>(`/api/runs/${id}`)
        return run.stage === 'delivered' ? run : undefined
      }, `the end of run ${id}`),
  }
}
