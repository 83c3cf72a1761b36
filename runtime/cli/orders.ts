/** Gives one order about several records of a running gateway, and reports what came of each. */

import type { Io } from './io.ts'
import type { Admin } from './reading/admin-client.ts'
import { shortId } from './table.ts'

type Refused = { readonly ok: false; readonly error: string; readonly code: string }

interface Order<Done> {
  readonly ids: readonly string[]
  /** The path of the order for one record. */
  path(id: string): string
  /** The name of the id in JSON. */
  readonly idName: string
  /** What is said of a record for which the order was carried out. */
  describe(done: Done): string
  /** The last line, where there is one. */
  summary?(answers: readonly (Done | Refused)[]): string
}

/** @returns 1 where the order failed for one of them */
export async function giveOrder<Done extends { readonly ok: true }>(
  admin: Admin,
  { ids, path, idName, describe, summary }: Order<Done>,
  json: boolean,
  io: Io,
): Promise<number> {
  const answers = new Map<string, Done | Refused>()
  for (const id of new Set(ids)) {
    const answer = (await admin.post(path(id), {}, [404, 409])) as Done | Refused
    answers.set(id, answer)
    if (json) continue
    if (answer.ok) io.out(`${shortId(id)}: ${describe(answer)}\n`)
    else io.err(`${shortId(id)}: ${answer.error}\n`)
  }
  const all = [...answers.values()]
  if (json) {
    const items = [...answers].map(([id, answer]) => ({ [idName]: id, ...answer }))
    io.out(`${JSON.stringify({ items }, null, 2)}\n`)
  } else if (summary) io.out(`${summary(all)}\n`)
  return all.every(({ ok }) => ok) ? 0 : 1
}
