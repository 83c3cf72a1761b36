/** Facts of a record, each with its label. What is absent is left out. */

import type { ComponentChildren } from 'preact'

export type Fact = readonly [label: string, value: ComponentChildren]

export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  const present = facts.filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  )
  return (
    <dl class="facts">
      {present.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
