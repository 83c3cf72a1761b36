/**
 * Runs a gateway in a child process that takes orders and reports, so that its cost and its end are seen from
 * outside.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { atEnd } from '../../at-end.ts'
import { createFolder, type Files } from '../../installation.ts'

export interface ChildGateway {
  readonly address: string
  readonly folder: string
  /** Sends an order and resolves with the next report. @throws Error if the process ends instead */
  messageFrom<Message>(asked?: string): Promise<Message>
  /** Rejects if the process ends without an order. */
  readonly ended: Promise<never>
  /** The latest output of the process. */
  output(): string
}

export interface ChildOptions {
  readonly files: Files
  /** Arguments for Node.js. */
  readonly flags?: readonly string[]
}

const maxOutput = 200_000

export async function openChildGateway(
  t: TestContext,
  { files, flags = [] }: ChildOptions,
): Promise<ChildGateway> {
  const folder = await createFolder(t, files)
  const child = fork(new URL('serving-gateway.ts', import.meta.url), [join(folder, 'reveille.yaml')], {
    execArgv: [...flags],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-maxOutput)
    })
  }
  const exit = once(child, 'exit')
  const ended = exit.then(([code, signal]): never => {
    throw new Error(`The gateway ended with ${signal ?? code}:\n${output.slice(-20_000)}`)
  })
  ended.catch(() => {})
  atEnd(t, async () => {
    if (child.connected) child.send('close')
    await exit
  })

  async function messageFrom<Message>(asked?: string): Promise<Message> {
    const message = once(child, 'message')
    if (asked !== undefined) child.send(asked)
    const [first] = await Promise.race([message, ended])
    return first
  }

  const { address } = await messageFrom<{ address: string }>()
  return { address, folder, messageFrom, ended, output: () => output }
}
