/** Keeps what sources store in the database, so that it is there on whichever node they run. */

import type { SourceValues } from '../port.ts'
import { createDatabase, type Query } from './connection.ts'

export function createSourceValues(query: Query): SourceValues {
  return {
    async read(source, name) {
      const sql = 'SELECT value FROM source_values WHERE source = $1 AND name = $2'
      const [row] = await query<{ value: string }>(sql, [source, name])
      return row?.value
    },
    async write(source, name, text) {
      const sql = `INSERT INTO source_values (source, name, value) VALUES ($1, $2, $3)
        ON CONFLICT (source, name) DO UPDATE SET value = excluded.value`
      await query(sql, [source, name, text])
    },
  }
}

/** Opens them without a gateway. @throws StoreError */
export async function openSourceValues(location: string): Promise<SourceValues & AsyncDisposable> {
  const database = await createDatabase({ location })
  return {
    ...createSourceValues(database.link('sources').query),
    [Symbol.asyncDispose]: () => database.close(),
  }
}
