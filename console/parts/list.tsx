/**
 * A list whose rows are links. One row is reached with Tab, the others with the arrow keys. When rows arrive above the one that is
 * focused or looked at, that one stays where it is on the screen.
 */

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Badge, type Tone, toneOf } from './badge.tsx'
import { useKey } from './keys.ts'
import { Marked } from './marked.tsx'
import { Time } from './words.tsx'

/** A record in a list. Texts may be from outside. */
export interface Row {
  readonly id: string
  readonly href: string
  /** Milliseconds since the epoch. */
  readonly at?: number
  /** Colours the edge of the row too. */
  readonly state?: string
  /** In place of the usual one of the state. */
  readonly tone?: Tone
  readonly name: string
  /** Short labels before the text. */
  readonly tags?: readonly string[]
  readonly about?: string
  /** At the end of the row: `202`. */
  readonly status?: ComponentChildren
}

export function RowList({ rows, label }: { readonly rows: readonly Row[]; readonly label: string }) {
  const list = useRef<HTMLUListElement>(null)
  const [current, setCurrent] = useState<string>()
  const reachable = rows.some(({ id }) => id === current) ? current : rows[0]?.id
  useKeptPlace(list, rows)

  function move(event: KeyboardEvent) {
    const step = steps[event.key]
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    const links = [...(list.current?.querySelectorAll<HTMLAnchorElement>('a.row') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    if (at < 0) return
    event.preventDefault()
    focusRow(links[Math.min(links.length - 1, Math.max(0, step(at, links.length)))])
  }

  /** Where nothing has the focus, an arrow enters the list. */
  const enter = () => focusRow(list.current?.querySelector<HTMLAnchorElement>('a.row[tabindex="0"]'))
  useKey('ArrowDown', enter)
  useKey('ArrowUp', enter)

  return (
    <ul class="rows" ref={list} aria-label={label} onKeyDown={move}>
      {rows.map(({ id, href, state, tone, ...row }) => (
        <li key={id}>
          <a
            class={`row ${state === undefined ? '' : `edge tone-${tone ?? toneOf(state)}`}`}
            href={href}
            data-id={id}
            tabIndex={id === reachable ? 0 : -1}
            onFocus={() => setCurrent(id)}
          >
            {row.at !== undefined && (
              <span class="row-time">
                <Time at={row.at} />
              </span>
            )}
            {state !== undefined && <Badge state={state} tone={tone} />}
            <span class="row-name">
              <Marked text={row.name} />
            </span>
            {row.status !== undefined && <span class="row-status">{row.status}</span>}
            <span class="row-about">
              {row.tags?.map((tag) => (
                <b key={tag}>{tag} </b>
              ))}
              {row.about !== undefined && <Marked text={row.about} />}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function focusRow(row: HTMLAnchorElement | null | undefined): void {
  row?.focus()
  row?.scrollIntoView({ block: 'nearest' })
}

const pageRows = 10
const steps: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  j: (at) => at + 1,
  k: (at) => at - 1,
  PageDown: (at) => at + pageRows,
  PageUp: (at) => at - pageRows,
  Home: () => 0,
  End: (_at, count) => count - 1,
}

/** Browsers keep the place of what is scrolled to, but not at the top of a page, and not all of them do. */
function useKeptPlace(list: { readonly current: HTMLUListElement | null }, rows: readonly Row[]): void {
  const anchor = useRef<{ readonly id: string; readonly top: number } | undefined>(undefined)
  // This runs while rendering, when the list still shows the earlier rows.
  anchor.current = anchorOf(list.current)
  useLayoutEffect(() => {
    const before = anchor.current
    if (before === undefined || list.current === null) return
    const row = list.current.querySelector(`a.row[data-id="${CSS.escape(before.id)}"]`)
    const moved = row === null ? 0 : row.getBoundingClientRect().top - before.top
    if (moved !== 0) window.scrollBy(0, moved)
  }, [rows])
}

function anchorOf(list: HTMLUListElement | null) {
  if (list === null) return undefined
  const focused = list.contains(document.activeElement) ? document.activeElement?.closest('a.row') : undefined
  const row = focused ?? (list.getBoundingClientRect().top < 0 ? firstVisible(list) : undefined)
  const id = row?.getAttribute('data-id')
  return row && id ? { id, top: row.getBoundingClientRect().top } : undefined
}

function firstVisible(list: HTMLUListElement): Element | undefined {
  return [...list.querySelectorAll('a.row')].find((row) => row.getBoundingClientRect().bottom > 0)
}
