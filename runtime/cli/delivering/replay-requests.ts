/** Does requests again that a person names, one after the other, and says what came of each. */

import type { Decision } from '@reveille/engine'
import { printable } from '../../observe/printable.ts'
import type { RequestOutcome } from '../../store/port.ts'
import { formatOutcome } from '../authoring/try/outcome.ts'
import { CommandFailure } from '../command-failure.ts'
import { type CommandOptions, type Io, paintFor } from '../io.ts'
import { type Admin, doneMs } from '../reading/admin-client.ts'
import { readGivenFile } from '../request-file.ts'
import { shortId, withShortIds } from '../table.ts'

/** How requests are replayed. */
export interface ReplayTerms {
  readonly dryRun?: boolean
  readonly callOut?: boolean
  readonly deliverAgain?: boolean
  readonly payload?: string
}

interface Refused {
  readonly ok: false
  readonly error: string
  readonly code: string
}

interface Replayed {
  readonly ok: true
  readonly requestId: string
  readonly outcome: RequestOutcome
  readonly status: number
  readonly code?: string
  readonly reason?: string
  readonly mapping?: string
  readonly actions: readonly { readonly kind: string; readonly id: string; readonly became?: string }[]
}

interface Tried {
  readonly ok?: never
  readonly explanation: {
    readonly endpoint: string
    readonly actions: readonly { readonly mapping?: string }[]
  }
  /** Without its actions, which the explanation has. */
  readonly decision: Decision
  readonly status: number
  readonly stops: readonly { readonly module: string; readonly target: string }[]
}

/** @returns 1 where one of them was refused, or failed again */
export async function replayRequests(
  admin: Admin,
  ids: readonly string[],
  options: CommandOptions & ReplayTerms,
  io: Io,
): Promise<number> {
  const { json = false, payload } = options
  const body = { ...termsOf(options), ...(payload !== undefined && { payload: await textOf(payload, io) }) }
  const answers = new Map<string, Replayed | Tried | Refused>()
  for (const id of new Set(ids)) {
    const asked = { ms: doneMs, accepted: [404, 409, 413, 503] }
    const answer = await admin.sendJson('POST', `/api/requests/${id}/replay`, body, asked)
    answers.set(id, answer as Replayed | Tried | Refused)
    if (!json) describe(id, answer as Replayed | Tried | Refused, io)
  }
  if (json) {
    const items = [...answers].map(([id, answer]) => ({ request: id, ...answer }))
    io.out(`${JSON.stringify({ items }, null, 2)}\n`)
  }
  return [...answers.values()].every(isGood) ? 0 : 1
}

/** The terms as the API takes them. */
export function termsOf({ dryRun, callOut, deliverAgain }: ReplayTerms) {
  if (callOut && !dryRun)
    throw new CommandFailure(2, '--call-out goes with --dry-run; a replay uses the network anyway.')
  return {
    ...(dryRun && { dryRun: true }),
    ...(callOut && { callOut: true }),
    ...(deliverAgain && { deliverAgain: true }),
  }
}

/** The file is a body, and stands for the body of the request as it is. */
async function textOf(file: string, io: Io): Promise<string> {
  const bytes = file === '-' ? ((await io.input?.()) ?? new Uint8Array()) : await readGivenFile(file, io)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new CommandFailure(2, `${file} is no text in UTF-8.`, { cause })
  }
}

function isGood(answer: Replayed | Tried | Refused): boolean {
  if ('decision' in answer) return !('code' in answer.decision)
  if (!answer.ok) return false
  return answer.outcome !== 'failed' && answer.outcome !== 'refused'
}

function describe(id: string, answer: Replayed | Tried | Refused, io: Io): void {
  const name = shortId(id)
  if ('decision' in answer) {
    const { status, stops } = answer
    const { endpoint, actions } = answer.explanation
    const decision = { ...answer.decision, actions } as Decision
    const stopped = stops.map(({ module, target }) => `  ${module} was kept from calling ${target}`)
    const lines = [...formatOutcome(endpoint, decision, status, paintFor(io)), ...stopped.map(printable)]
    io.out(`${name}: would be\n${lines.join('\n')}\n`)
    return
  }
  if (!answer.ok) {
    io.err(`${name}: ${printable(answer.error)}\n`)
    return
  }
  const { requestId, outcome, code, reason, mapping, actions } = answer
  const done = actions.map(({ kind, id: made, became }) =>
    [kind, shortId(made), became === undefined ? '' : `(${became})`].filter(Boolean).join(' '),
  )
  const facts = [code, mapping, ...done, reason && withShortIds(reason)].filter(Boolean)
  const line = `${name}: ${outcome} as ${shortId(requestId)}  ${printable(facts.join('  '))}`.trimEnd()
  if (isGood(answer)) io.out(`${line}\n`)
  else io.err(`${line}\n`)
}
