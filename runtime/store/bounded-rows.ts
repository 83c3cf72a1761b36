/** Bounds the size of an answer: takes rows as long as their texts fit, and the first row always. */

/**
 * Senders decide how long a record is, and all of it is copied to the main thread and parsed there. `max` has the unit of
 * `sizeOf`: UTF-16 units or bytes. `isCut` says whether there were more rows than fit.
 */
export function takeRows<Row>(rows: Iterable<Row>, sizeOf: (row: Row) => number, max: number) {
  const taken: Row[] = []
  let size = 0
  for (const row of rows) {
    size += sizeOf(row)
    if (size > max && taken.length > 0) return { rows: taken, isCut: true }
    taken.push(row)
  }
  return { rows: taken, isCut: false }
}
