/** Reads and writes deliveries: each record beside the two columns by which it is searched. */

import type { DatabaseSync } from 'node:sqlite'
import { isId } from '../../id.ts'
import type { DeliveryRecord, Id } from '../../port.ts'
import { blobOfId } from '../database/ids.ts'
import type { NoteChange } from './change-list.ts'

export type Deliveries = ReturnType<typeof createDeliveries>

export function createDeliveries(db: DatabaseSync, changed: NoteChange) {
  const select = db.prepare('SELECT record FROM deliveries WHERE id = ?')
  const insert = db.prepare(
    'INSERT INTO deliveries (id, state, channel, record) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
  )
  const update = db.prepare('UPDATE deliveries SET state = ?, channel = ?, record = ? WHERE id = ?')

  function find(id: Id): DeliveryRecord | undefined {
    const row = isId(id) ? (select.get(blobOfId(id)) as { record: string } | undefined) : undefined
    return row && JSON.parse(row.record)
  }

  return {
    find,
    /** Does nothing if the delivery is there already. */
    insert(delivery: DeliveryRecord) {
      const { id, state, channel } = delivery
      const { changes } = insert.run(blobOfId(id), state, channel, JSON.stringify(delivery))
      if (changes > 0) changed('delivery', id, state)
    },
    update(delivery: DeliveryRecord) {
      const { id, state, channel } = delivery
      update.run(state, channel, JSON.stringify(delivery), blobOfId(id))
      changed('delivery', id, state)
    },
    /** Erases the text of a delivery. */
    forget(id: Id, at: number) {
      const delivery = find(id)
      if (delivery === undefined) return
      this.update({ ...delivery, text: '', forgottenAt: delivery.forgottenAt ?? at })
    },
  }
}
