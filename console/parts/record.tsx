/** What pages about one record are made of: their frame, facts with their labels, and links to other records. */

import type { ComponentChildren } from 'preact'
import { goBack, hrefOf } from '../browser/router.ts'
import { useEvery, useLoaded, useReloadOn } from '../data/load.ts'
import type { Frame } from '../data/types.ts'
import { Badge } from './badge.tsx'
import { Button } from './controls.tsx'
import { Icon } from './icons.tsx'
import { Marked } from './marked.tsx'
import { LoadedView } from './notice.tsx'
import { Time } from './words.tsx'

export type Fact = readonly [label: ComponentChildren, value: ComponentChildren]

/** Facts without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => Boolean(value))
        .map(([label, value], index) => (
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

interface RecordPageProps<Item> {
  /** The list that the record belongs to. */
  readonly parent: readonly [path: string, title: string]
  /** Below `/api`. */
  readonly path: string
  /** Its kind: `run`. */
  readonly kind: string
  /** Default: the kind. */
  readonly titleOf?: (item: Item | undefined) => ComponentChildren
  /** Default: its state. */
  readonly badgeOf?: (item: Item) => Parameters<typeof Badge>[0] | undefined
  readonly actions?: (item: Item, reload: () => void) => ComponentChildren
  /** Whether the record is read again. */
  readonly isRelevant?: (frame: Frame, item: Item | undefined) => boolean
  /** True to read it every second, because the stream does not report its progress. */
  readonly isInProgress?: (item: Item) => boolean
  readonly children: (item: Item, reload: () => void) => ComponentChildren
}

/** A page about one record: the way back, its title and state, what can be done with it, and its content once it is read. */
export function RecordPage<Item extends { readonly state?: string }>({
  kind,
  titleOf = () => kind.charAt(0).toUpperCase() + kind.slice(1),
  badgeOf = ({ state }) => (state === undefined ? undefined : { state }),
  parent: [parentPath, parentTitle],
  ...props
}: RecordPageProps<Item>) {
  const loaded = useLoaded<Item>(props.path)
  const { data, reload } = loaded
  useReloadOn((frame) => props.isRelevant?.(frame, data) === true, reload)
  useEvery(data && props.isInProgress?.(data) ? 1_000 : undefined, reload)
  const badge = data && badgeOf(data)
  return (
    <article>
      <Button class="ghost" onClick={() => goBack(parentPath)}>
        <Icon name="back" /> {parentTitle}
      </Button>
      <div class="toolbar">
        <h1>{titleOf(data)}</h1>
        {badge !== undefined && <Badge {...badge} />}
        <div class="toolbar end">{data !== undefined && props.actions?.(data, reload)}</div>
      </div>
      <LoadedView loaded={loaded} label={`the ${kind}`}>
        {(item) => props.children(item, reload)}
      </LoadedView>
    </article>
  )
}
