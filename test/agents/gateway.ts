/** Runs a gateway in its own process, on its own folder. A test may kill it at any moment. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { bundledCommand } from '../bundle.ts'
import { createGatewayProcess, freePort, type GatewayProcess } from '../durability/gateway-process.ts'
import { gatewayToken, hookToken } from '../installation.ts'

export interface KillableGateway extends GatewayProcess {
  readonly folder: string
  /** Posts to a hook and returns the answer. Waits while the gateway is starting. */
  post(
    path: string,
    body: object,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown> }>
  /** Returns the answer of the admin API. */
  read<Answer>(path: string): Promise<Answer>
  /** Resolves with the run once the condition holds for it. */
  run(id: unknown, holds: (run: RunRecord) => boolean): Promise<RunRecord>
}

/** A test that waits longer fails. Milliseconds. */
const timeoutMs = 30_000

/** The gateway is not started yet. `more` is the configuration besides `gateway` and `hooks`; `{folder}` stands for the folder. */
export async function createKillableGateway(
  t: TestContext,
  options: { readonly more: string; readonly hooks?: string; readonly env?: Record<string, string> },
): Promise<KillableGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-agents-'))
  atEnd(t, () => rm(folder, { recursive: true, force: true }))
  const port = await freePort()
  const file = join(folder, 'reveille.yaml')
  await writeFile(
    file,
    `gateway:
  port: ${port}
  auth: { token: ${gatewayToken} }
  log: { level: warn, format: json }
hooks:
  enabled: true
  token: ${hookToken}
${options.hooks ?? ''}
${options.more.replaceAll('{folder}', folder)}
`,
  )
  const gateway = await createGatewayProcess({
    command: [await bundledCommand(), 'start', '--config', file],
    port,
    env: options.env,
  })
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
    async post(path, body, headers = {}) {
      const answer = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${hookToken}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    },
    async run(id, holds) {
      for (const deadline = Date.now() + timeoutMs; ; ) {
        const run = await read<RunRecord>(`/api/runs/${id}`)
        if (holds(run)) return run
        if (Date.now() > deadline) throw new Error(`waited in vain for ${JSON.stringify(run)}`)
        await pause(10)
      }
    },
  }
}
