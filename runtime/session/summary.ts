/** Makes the events of the gateway for the main session, above all the summary of a run, which tells how the run ended. */

import { oneLine } from '@reveille/kit'
import type { RunResult } from '../agent/run-result.ts'
import { cut } from '../cut.ts'
import type { EventRecord, Id, RunRecord } from '../store/port.ts'
import { mainSession } from './main.ts'

/** Maximum length of a reply or error in a summary. UTF-16 units. */
const maxSummaryLength = 2000
const maxNameLength = 200

/** Returns `Hook <name>: <reply>` or `Hook <name> (error): <message>`. A direct `/agent` request has no name of its own. */
export function summaryText(
  run: { readonly name?: string; readonly endpoint?: string },
  result: RunResult,
): string {
  const name = run.name ?? (run.endpoint === 'agent' ? undefined : run.endpoint)
  // A name comes from the sender too, and its second line could pass for a line of the gateway.
  const who = name === undefined ? 'Hook' : `Hook ${oneLine(name, maxNameLength)}`
  if (result.state !== 'succeeded')
    return `${who} (error): ${shorten(result.error.message, maxSummaryLength)}`
  return `${who}: ${shorten(result.reply.trim(), maxSummaryLength) || '(no reply)'}`
}

/** Cuts the text to `limit` UTF-16 units, including the ellipsis of a shortened text. */
function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${cut(text, limit - 1)}…`
}

/** Puts the whole text behind the boundary, because the reply and the name may hold what a sender wrote. */
export function summaryEvent(
  run: RunRecord,
  result: RunResult,
  facts: { readonly id: Id; readonly at: number; fence(text: string): string },
): EventRecord {
  const text = summaryText(run, result)
  return { ...ownEvent(run, text, facts), prompt: facts.fence(text), mode: run.wakeMode, trusted: false }
}

/** The subject of an event of the gateway: a run, or all of them. */
type Subject = Pick<RunRecord, 'generation'> &
  Partial<Pick<RunRecord, 'id' | 'requestId' | 'endpoint' | 'mapping'>>

/** Makes an event in the gateway's own words. It holds nothing that a sender wrote, and needs no boundary. */
export function ownEvent(
  { id: runId, requestId, endpoint, mapping, generation }: Subject,
  text: string,
  { id, at: createdAt, issue }: { readonly id: Id; readonly at: number; readonly issue?: string },
): EventRecord {
  return {
    id,
    session: mainSession,
    state: 'pending',
    text,
    prompt: text,
    mode: 'next-heartbeat',
    trusted: true,
    origin: { requestId, runId, ...(issue !== undefined && { issue }) },
    endpoint,
    mapping,
    generation,
    createdAt,
  }
}
