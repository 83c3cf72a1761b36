/** Keeps what sources store in the database, so that it is there on whichever node they run. */

import type { Driver, Transaction } from '@reveille/kit'
import type { SourceValues } from '../port.ts'
import { decodeString, encodeString } from './rows.ts'

export function createSourceValues(
  read: Driver['read'],
  transact: (work: (tx: Pick<Transaction, 'run'>) => Promise<unknown>) => Promise<unknown>,
): SourceValues {
  return {
    read: (source, name) =>
      read(async ({ all }) => {
        const [row] = await all<{ value: string }>(
          'SELECT value FROM source_values WHERE source = ?1 AND name = ?2',
          [encodeString(source), encodeString(name)],
        )
        return row && decodeString(row.value)
      }),
    async write(source, name, text) {
      await transact((tx) =>
        tx.run(
          `INSERT INTO source_values (source, name, value) VALUES (?1, ?2, ?3)
           ON CONFLICT (source, name) DO UPDATE SET value = excluded.value`,
          [source, name, text].map(encodeString),
        ),
      )
    },
  }
}
