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

const runs = () => import('../pages/runs.tsx')
const run = () => import('../pages/run.tsx')
const sessions = () => import('../pages/sessions.tsx')
const deliveries = () => import('../pages/deliveries.tsx')
const jobs = () => import('../pages/jobs.tsx')

const entries: readonly PageEntry[] = [
  { pattern: '/live', title: 'Live', section: '/live', load: Live },
  { pattern: '/requests/:id', title: 'Request', section: '/live', load: Request },
  lazy('/issues', 'Issues', '/issues', () => import('../pages/issues.tsx')),
  lazy('/runs', 'Runs', '/runs', runs),
  lazy('/runs/:id', 'Run', '/runs', run),
  lazy('/sessions', 'Sessions', '/runs', sessions),
  lazy('/sessions/:key', 'Session', '/runs', async () => ({ default: (await sessions()).Session })),
  lazy('/deliveries', 'Deliveries', '/runs', deliveries),
  lazy('/deliveries/:id', 'Delivery', '/runs', async () => ({ default: (await deliveries()).Delivery })),
  lazy('/events/:id', 'Event', '/runs', async () => ({ default: (await deliveries()).Event })),
  lazy('/playground', 'Playground', '/playground', () => import('../pages/playground.tsx')),
  lazy('/changes', 'Changes', '/changes', () => import('../pages/changes.tsx')),
  lazy('/health', 'Health', '/health', () => import('../pages/health.tsx')),
  lazy('/jobs', 'Replay jobs', '/runs', jobs),
  lazy('/jobs/:id', 'Replay job', '/runs', async () => ({ default: (await jobs()).Job })),
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
