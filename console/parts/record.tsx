/** What pages about one record are made of: their frame, facts with their labels, and links to other records. */

import type { ComponentChildren } from 'preact'
import { goBack, hrefOf } from '../browser/router.ts'
import type { Loaded } from '../data/load.ts'
import { Badge } from './badge.tsx'
import { Icon } from './icons.tsx'
import { Marked } from './marked.tsx'
import { LoadedView } from './notice.tsx'
import { Time } from './words.tsx'

export type Fact = readonly [label: ComponentChildren, value: ComponentChildren]

export function Facts({ facts, isTight }: { readonly facts: readonly Fact[]; readonly isTight?: boolean }) {
  const present = facts.filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  )
  return (
    <dl class={isTight ? 'facts tight' : 'facts'}>
      {present.map(([label, value], index) => (
        <div key={index}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A link to the record of an id below a page: `link('/runs', id)`. */
export function link(page: string, id: string | undefined, text = id): ComponentChildren {
  return (
    id && (
      <a href={hrefOf(`${page}/${encodeURIComponent(id)}`)}>
        <Marked text={text ?? id} />
      </a>
    )
  )
}

export const text = (value: string | undefined): ComponentChildren => value && <Marked text={value} />

export const time = (at: number | undefined): ComponentChildren => at !== undefined && <Time at={at} />

/** The list that a record belongs to. */
export type Parent = readonly [path: string, title: string]

export function BackLink({ parent: [path, title] }: { readonly parent: Parent }) {
  return (
    <button type="button" class="back" onClick={() => goBack(path)}>
      <Icon name="back" /> {title}
    </button>
  )
}

interface RecordPageProps<Item> {
  readonly parent: Parent
  readonly loaded: Loaded<Item>
  readonly title: ComponentChildren
  /** Ends "Loading …": `the run`. */
  readonly what: string
  readonly stateOf?: (item: Item) => string
  readonly actions?: (item: Item) => ComponentChildren
  readonly children: (item: Item) => ComponentChildren
}

export function RecordPage<Item>({ parent, loaded, title, what, ...of }: RecordPageProps<Item>) {
  const { data } = loaded
  return (
    <article>
      <BackLink parent={parent} />
      <div class="record-head">
        <h1>{title}</h1>
        {data !== undefined && of.stateOf !== undefined && <Badge state={of.stateOf(data)} />}
        <div class="toolbar">{data !== undefined && of.actions?.(data)}</div>
      </div>
      <LoadedView loaded={loaded} label={what}>
        {of.children}
      </LoadedView>
    </article>
  )
}
