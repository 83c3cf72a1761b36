/** Search: any id that is pasted finds its record, whatever its kind. */

import { useEffect, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { go, hrefOf, type PageProps, submitSearch } from '../browser/router.ts'
import { useLoaded } from '../data/load.ts'
import type { FoundRecord, Page } from '../data/types.ts'
import { Field } from '../parts/controls.tsx'
import { RowList } from '../parts/list.tsx'
import { Empty, LoadedView } from '../parts/notice.tsx'
import { counted } from '../parts/words.tsx'

const pages: Readonly<Record<FoundRecord['kind'], (id: string) => string>> = {
  request: (id) => hrefOf(`/requests/${id}`),
  run: (id) => hrefOf(`/runs/${id}`),
  event: (id) => hrefOf(`/events/${id}`),
  delivery: (id) => hrefOf(`/deliveries/${id}`),
  session: (key) => hrefOf(`/sessions/${encodeURIComponent(key)}`),
  generation: (number) => hrefOf('/changes', { generation: number }),
}

export function Search({ query }: PageProps) {
  const text = query.get('q')?.trim() ?? ''
  const loaded = useLoaded<Page<FoundRecord>>(text === '' ? undefined : '/find', { q: text })
  const found = loaded.data?.items
  const [typed, setTyped] = useState(text)
  useEffect(() => setTyped(text), [text])
  useEffect(() => {
    const [first] = found ?? []
    // A single result is opened at once.
    if (found?.length === 1 && first !== undefined) go(pages[first.kind](first.id), { replace: true })
    else if (found !== undefined) announce(`${counted(found.length, 'record')} found.`)
  }, [found])
  return (
    <>
      <h1>Search</h1>
      <search>
        <form class="toolbar" onSubmit={submitSearch}>
          <Field
            name="q"
            type="search"
            label="An id, its end, a sender's delivery id, or a session"
            value={typed}
            onText={setTyped}
            isFocused={text === ''}
          />
          <button type="submit" class="button primary">
            Find
          </button>
        </form>
      </search>
      {text !== '' && (
        <LoadedView loaded={loaded} label="what is found">
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="Nothing has this id.">
                The end of an id finds the newest records only, and needs at least four characters.
              </Empty>
            ) : (
              <RowList
                label="Records that were found"
                rows={items.map(({ kind, id }) => ({
                  id: `${kind} ${id}`,
                  href: pages[kind](id),
                  state: kind,
                  name: id,
                }))}
              />
            )
          }
        </LoadedView>
      )}
    </>
  )
}
