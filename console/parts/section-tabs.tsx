/** The pages that belong together below one entry of the navigation. */

import { hrefOf, path } from '../browser/router.ts'

const tabs = [
  ['/runs', 'Runs'],
  ['/sessions', 'Sessions'],
  ['/deliveries', 'Deliveries'],
  ['/jobs', 'Replay jobs'],
] as const

export function SectionTabs() {
  return (
    <nav class="tabs" aria-label="Runs and what belongs to them">
      {tabs.map(([to, title]) => (
        <a key={to} href={hrefOf(to)} aria-current={path.value === to ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}
