/** The pages and their addresses. Live and Request come with the frame; the others are read when they are opened first. */

import type { ComponentType } from 'preact'
import { matchPath, type PageProps } from '../browser/router.ts'
import { Live } from '../pages/live.tsx'
import { Request } from '../pages/request.tsx'
import type { IconName } from '../parts/icons.tsx'

type Page = ComponentType<PageProps>

export interface PageEntry {
  readonly pattern: string
  readonly title: string
  /** The entry of the navigation that is marked while the page is open. */
  readonly section: string
  readonly load: Page | (() => Promise<{ readonly default: Page }>)
  readonly isLazy?: true
}

const lazy = (
  pattern: string,
  title: string,
  section: string,
  load: () => Promise<{ readonly default: Page }>,
): PageEntry => ({ pattern, title, section, load, isLazy: true })

/** A chunk with several pages, of which one is picked by its name. */
const picked =
  <Name extends string>(load: () => Promise<Readonly<Record<Name, Page>>>, name: NoInfer<Name>) =>
  async () => ({ default: (await load())[name] })
const lists = () => import('../pages/lists.tsx')
const records = () => import('../pages/records.tsx')

const entries: readonly PageEntry[] = [
  { pattern: '/live', title: 'Live', section: '/live', load: Live },
  { pattern: '/requests/:id', title: 'Request', section: '/live', load: Request },
  lazy('/issues', 'Issues', '/issues', () => import('../pages/issues.tsx')),
  lazy('/runs', 'Runs', '/runs', picked(lists, 'Runs')),
  lazy('/runs/:id', 'Run', '/runs', picked(records, 'Run')),
  lazy('/sessions', 'Sessions', '/runs', picked(lists, 'Sessions')),
  lazy('/sessions/:key', 'Session', '/runs', picked(records, 'Session')),
  lazy('/deliveries', 'Deliveries', '/runs', picked(lists, 'Deliveries')),
  lazy('/deliveries/:id', 'Delivery', '/runs', picked(records, 'Delivery')),
  lazy('/events/:id', 'Event', '/runs', picked(records, 'Event')),
  lazy('/playground', 'Playground', '/playground', () => import('../pages/playground.tsx')),
  lazy('/changes', 'Changes', '/changes', () => import('../pages/changes.tsx')),
  lazy('/health', 'Health', '/health', () => import('../pages/health.tsx')),
  lazy('/jobs', 'Replay jobs', '/runs', picked(lists, 'Jobs')),
  lazy('/jobs/:id', 'Replay job', '/runs', picked(records, 'Job')),
  lazy('/search', 'Search', '', () => import('../pages/search.tsx')),
]

export interface Opened {
  readonly entry: PageEntry
  readonly params: Readonly<Record<string, string>>
}

export function findPage(path: string): Opened | undefined {
  for (const entry of entries) {
    const params = matchPath(entry.pattern, path)
    if (params !== undefined) return { entry, params }
  }
  return undefined
}

/** The navigation. `key` follows `g` on the keyboard. */
export const sections: readonly {
  readonly path: string
  readonly title: string
  readonly icon: IconName
  readonly key: string
}[] = [
  { path: '/live', title: 'Live', icon: 'live', key: 'l' },
  { path: '/issues', title: 'Issues', icon: 'issues', key: 'i' },
  { path: '/runs', title: 'Runs', icon: 'runs', key: 'r' },
  { path: '/playground', title: 'Playground', icon: 'playground', key: 'p' },
  { path: '/changes', title: 'Changes', icon: 'changes', key: 'c' },
  { path: '/health', title: 'Health', icon: 'health', key: 'h' },
]
