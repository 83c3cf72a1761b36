/** The frame of a page about one record: the way back, its title and state, what can be done with it, and its content once it is read. */

import type { ComponentChildren } from 'preact'
import { goBack } from '../browser/router.ts'
import type { Loaded } from '../data/load.ts'
import { Badge } from './badge.tsx'
import { Icon } from './icons.tsx'
import { LoadedView } from './notice.tsx'

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
