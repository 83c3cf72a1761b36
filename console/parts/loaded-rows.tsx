/** A list as it is read: that it is loading, what went wrong, that there is none, its rows, and the way to older ones. */

import type { ComponentChildren } from 'preact'
import type { LoadedList } from '../data/load.ts'
import { type Row, RowList } from './list.tsx'
import { Loading, Problem } from './notice.tsx'

interface LoadedRowsProps<Item> {
  readonly list: LoadedList<Item>
  /** Ends "Loading …" and "Show older …": `runs`. */
  readonly what: string
  readonly label: string
  readonly rowOf: (item: Item) => Row
  /** Shown where there is none. */
  readonly children: ComponentChildren
}

export function LoadedRows<Item>({
  list: { data, error, loadMore, reload },
  what,
  label,
  rowOf,
  children,
}: LoadedRowsProps<Item>) {
  return (
    <>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading what={what} />}
      {data?.length === 0 && children}
      {data !== undefined && data.length > 0 && <RowList label={label} rows={data.map(rowOf)} />}
      {loadMore !== undefined && (
        <button type="button" class="button more" onClick={loadMore}>
          Show older {what}
        </button>
      )}
    </>
  )
}
