/** Owns how much one answer holds: rows are taken as long as their texts fit, and the first one always. */

export interface BoundedRows<Row> {
  readonly rows: Row[]
  /** True when there were more rows than fit. */
  readonly isCut: boolean
}

/**
 * Strangers decide how long a record is, and every unit of it is copied to the main thread and parsed there.
 * `most` counts UTF-16 units of `column`.
 */
export function takeRows<Row extends Record<string, unknown>>(
  rows: Iterable<Row>,
  column: keyof Row,
  most: number,
): BoundedRows<Row> {
  const taken: Row[] = []
  let units = 0
  for (const row of rows) {
    units += String(row[column]).length
    if (units > most && taken.length > 0) return { rows: taken, isCut: true }
    taken.push(row)
  }
  return { rows: taken, isCut: false }
}
