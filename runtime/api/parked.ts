/** Gives one order about all records in a state, the oldest first. */

import { RequestError } from '../http/errors.ts'
import { pagesOf } from '../store/pages.ts'
import type { Id, Page } from '../store/port.ts'
import type { Answer } from './routes/client.ts'

/** Maximum number of refusals in one response. */
const maxRefused = 500

/** `order` throws a RequestError where it is refused. All lists are read before the first record is changed. */
export async function orderAll<Record extends { readonly id: Id }, State>(
  states: readonly State[],
  read: (state: State, page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Record>>,
  isMeant: (record: Record) => boolean,
  order: (id: Id) => Promise<unknown>,
): Promise<Answer<'resumeRuns'>> {
  const ids: Id[] = []
  for (const state of states)
    for await (const records of pagesOf((page) => read(state, page)))
      ids.push(...records.filter(isMeant).map(({ id }) => id))
  const refused: { id: Id; reason: string }[] = []
  // Ids are in the order of their creation.
  for (const id of ids.sort()) {
    try {
      await order(id)
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      refused.push({ id, reason: error.message })
    }
  }
  return { ok: true, done: ids.length - refused.length, refused: refused.slice(0, maxRefused) }
}
