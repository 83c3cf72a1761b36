/** Makes the summary: the event that tells the main session how a run ended. */

import { oneLine } from '@reveille/kit'
import type { RunResult } from '../agent/run-result.ts'
import { cut } from '../cut.ts'
import type { EventRecord, Id, RunRecord } from '../store/port.ts'
import { mainSession } from './main.ts'

/** Of the reply or the error. UTF-16 units. */
const longestSummary = 2000
const longestName = 200

/** `Hook <name>: <reply>` or `Hook <name> (error): <message>`; a direct `/agent` request has no name of its own. */
export function summaryText(
  run: { readonly name?: string; readonly endpoint?: string },
  result: RunResult,
): string {
  const name = run.name ?? (run.endpoint === 'agent' ? undefined : run.endpoint)
  // A name comes from outside too: a second line of it could pass for one of ours.
  const who = name === undefined ? 'Hook' : `Hook ${oneLine(name, longestName)}`
  if (result.state !== 'succeeded') return `${who} (error): ${shorten(result.error.message, longestSummary)}`
  return `${who}: ${shorten(result.reply.trim(), longestSummary) || '(no reply)'}`
}

/** At most `limit` UTF-16 units, the ellipsis of a shortened text among them. */
function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${cut(text, limit - 1)}…`
}

/** Both the reply and the name may hold what a stranger wrote, so the whole text goes behind the boundary. */
export function summaryEvent(
  run: RunRecord,
  result: RunResult,
  facts: { readonly id: Id; readonly at: number; fence(text: string): string },
): EventRecord {
  const text = summaryText(run, result)
  return {
    id: facts.id,
    session: mainSession,
    state: 'pending',
    text,
    prompt: facts.fence(text),
    mode: run.wakeMode,
    trusted: false,
    origin: { requestId: run.requestId, runId: run.id },
    endpoint: run.endpoint,
    mapping: run.mapping,
    generation: run.generation,
    createdAt: facts.at,
  }
}
