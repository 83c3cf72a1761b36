/** Facts of a record, each with its label. Absent facts are left out. */

import type { ComponentChildren } from 'preact'
import { hrefOf } from '../browser/router.ts'
import { Marked } from './marked.tsx'
import { Time } from './time.tsx'

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
